"""Passages: pieces of a document before they get an identity, and the token budget that they must fit."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tokenizers import Tokenizer

from contracts.ingestion import embedding_text
from inference.tokens import load_minilm_tokenizer
from ingestion.conversion.values import ChunkOptions

HEADING_SHARE = 4  # headings may take a fourth; longer heading paths lose their outermost headings
CHARACTERS_PER_TOKEN = 16  # at most: WordPiece takes a word of any length above 100 characters for one token
ESTIMATED_TOKENS = 1.25  # of another model's tokenizer, for each token of the bundled one
ESTIMATED_BYTES_PER_TOKEN = 2  # of another tokenizer, where the bundled one knows a script badly or not at all
LONGEST_KNOWN_WORD = 20  # characters; longer tokens of the bundled tokenizer are words that it does not know
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Passage:
    """`box` lies on the first page, `page`, also where the passage goes on to `page_end`. `cells` as A1:D20."""

    content: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    page_end: int | None = None
    box: Box | None = None
    line_start: int | None = None
    line_end: int | None = None
    cells: str | None = None


def storable(text: str) -> str:
    """Removes NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


@dataclass(frozen=True, slots=True)
class TokenPositions:
    """Where in a text its tokens end, and how much the tokens before each count (`totals` begins with 0)."""

    ends: Sequence[int]
    totals: Sequence[float]

    def between(self, start: int, end: int) -> int:
        """The size of a part of the text; the difference of offsets bounds it where words are endless."""
        tokens = self.totals[bisect_right(self.ends, end)] - self.totals[bisect_right(self.ends, start)]
        return max(math.ceil(tokens), (end - start) // CHARACTERS_PER_TOKEN)

    def reach(self, start: int, tokens: int) -> int:
        """Returns how far so many tokens from `start` reach; always past `start`, if there is more."""
        first = bisect_right(self.ends, start)
        last = max(bisect_right(self.totals, self.totals[first] + tokens) - 1, first + 1)
        return self.ends[last - 1] if last <= len(self.ends) else start + tokens * CHARACTERS_PER_TOKEN

    def reach_back(self, end: int, tokens: int) -> int:
        """Returns where the last so many tokens before `end` begin."""
        last = bisect_right(self.ends, end)
        first = bisect_right(self.totals, self.totals[last] - tokens - 1e-9)
        return self.ends[first - 1] if first else 0


@dataclass(frozen=True)
class TokenBudget:
    """Counts tokens as the embedding model does, or a little above where only its limit is known. Says what fits."""

    tokenizer: Tokenizer
    options: ChunkOptions = field(default_factory=ChunkOptions)

    @property
    def special_tokens(self) -> int:
        """Counts the tokens that the encoder puts around a text."""
        return max(2, int(self.tokenizer.num_special_tokens_to_add(False)))

    @property
    def limit(self) -> int:
        """The tokens of headings and content."""
        return self.options.max_tokens - self.special_tokens

    @property
    def heading_limit(self) -> int:
        return self.options.max_tokens // HEADING_SHARE

    def tokens(self, text: str) -> int:
        """Counts tokens without the special ones."""
        text = storable(text)
        if self.options.estimated:
            return math.ceil(self.positions(text).totals[-1])
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def size(self, text: str) -> int:
        """Tokens, or more for text whose words are too long to be counted by tokens alone."""
        return max(self.tokens(text), len(text) // CHARACTERS_PER_TOKEN)

    def positions(self, text: str) -> TokenPositions:
        """Locates the tokens of a storable text."""
        offsets = self.tokenizer.encode(text, add_special_tokens=False).offsets
        ends = [end for _, end in offsets]
        if not self.options.estimated:
            return TokenPositions(ends, range(len(ends) + 1))
        return TokenPositions(ends, [0.0, *accumulate(_estimate(text[start:end]) for start, end in offsets)])

    def room(self, heading_path: Sequence[str]) -> int:
        """Returns how many tokens of content fit under these headings."""
        return self.limit - (self.size(embedding_text(heading_path, "")) if heading_path else 0)

    def fits(self, passage: Passage) -> bool:
        return self.size(embedding_text(passage.heading_path, passage.content)) <= self.limit

    def capped(self, headings: Sequence[str]) -> tuple[str, ...]:
        """The innermost headings that leave room for content; an endless innermost heading is shortened."""
        kept: list[str] = []
        for heading in reversed([" ".join(storable(each).split()) for each in headings]):
            if not heading:
                continue
            if self.size("\n".join([heading, *kept])) > self.heading_limit:
                break
            kept.insert(0, heading)
        if kept or not any(heading.strip() for heading in headings):
            return tuple(kept)
        return (self._shortened(next(" ".join(each.split()) for each in reversed(headings) if each.strip())),)

    def _shortened(self, heading: str) -> str:
        text = storable(heading)[: self.heading_limit * CHARACTERS_PER_TOKEN // 2]
        if not self.tokens(text):
            return ""
        return text[: self.positions(text).reach(0, self.heading_limit // 2)].rstrip() + "…"


def token_budget(options: ChunkOptions) -> TokenBudget:
    """Loads the tokenizer that the options name. Takes some 50 ms."""
    if options.tokenizer is None:
        return TokenBudget(load_minilm_tokenizer(), options)
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenBudget(tokenizer, options)


def _estimate(token: str) -> float:
    """Estimates how many tokens another tokenizer makes of one of the bundled tokenizer's."""
    if not token.isascii():
        return max(ESTIMATED_TOKENS, len(token.encode()) / ESTIMATED_BYTES_PER_TOKEN)
    return len(token) / ESTIMATED_BYTES_PER_TOKEN if len(token) > LONGEST_KNOWN_WORD else ESTIMATED_TOKENS
