"""Passages: pieces of a document before they get an identity, and the token budget that they must fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from inference.tokens import MINILM_MAX_TOKENS
from ingestion.conversion.embedding_text import embedding_text

SPECIAL_TOKENS = 2  # what the encoder puts around a text
BUDGET = MINILM_MAX_TOKENS - SPECIAL_TOKENS
HEADING_BUDGET = 64  # of these; longer heading paths lose their outermost headings
CHARACTERS_PER_TOKEN = 16  # at most: WordPiece takes a word of any length above 100 characters for one token
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Passage:
    content: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    page_end: int | None = None
    box: Box | None = None
    line_start: int | None = None
    line_end: int | None = None


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


@dataclass(frozen=True)
class TokenBudget:
    """Counts tokens as the embedding model does, and says what fits."""

    tokenizer: Tokenizer

    def tokens(self, text: str) -> int:
        """Without the special tokens."""
        return len(self.tokenizer.encode(storable(text), add_special_tokens=False).ids)

    def size(self, text: str) -> int:
        """Tokens, or more for text whose words are too long to be counted by tokens alone."""
        return max(self.tokens(text), len(text) // CHARACTERS_PER_TOKEN)

    def token_ends(self, text: str) -> list[int]:
        """Where each token ends in the text; storable text only."""
        return [end for _, end in self.tokenizer.encode(text, add_special_tokens=False).offsets]

    def room(self, heading_path: Sequence[str]) -> int:
        """How much content fits under these headings."""
        return BUDGET - (self.size(embedding_text(heading_path, "")) if heading_path else 0)

    def fits(self, passage: Passage) -> bool:
        return self.size(embedding_text(passage.heading_path, passage.content)) <= BUDGET

    def capped(self, headings: Sequence[str]) -> tuple[str, ...]:
        """The innermost headings that leave room for content; an endless innermost heading is shortened."""
        kept: list[str] = []
        for heading in reversed([" ".join(storable(each).split()) for each in headings]):
            if not heading:
                continue
            if self.size("\n".join([heading, *kept])) > HEADING_BUDGET:
                break
            kept.insert(0, heading)
        if kept or not any(heading.strip() for heading in headings):
            return tuple(kept)
        return (self._shortened(next(" ".join(each.split()) for each in reversed(headings) if each.strip())),)

    def _shortened(self, heading: str) -> str:
        text = storable(heading)[: HEADING_BUDGET * CHARACTERS_PER_TOKEN // 2]
        ends = self.token_ends(text)
        return text[: ends[min(len(ends), HEADING_BUDGET // 2) - 1]].rstrip() + "…" if ends else ""
