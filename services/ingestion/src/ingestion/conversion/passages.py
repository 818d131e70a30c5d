"""Passages, which are chunks before they get an id, and the token budget that they must fit."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tokenizers import Tokenizer

from contracts.base import LineBox
from contracts.ingestion import embedding_text
from inference.tokens import load_minilm_tokenizer
from ingestion.conversion.values import ChunkOptions

HEADING_SHARE = 4  # headings may take a quarter; longer heading paths lose their outermost headings
CHARACTERS_PER_TOKEN = 16  # at most, because WordPiece counts a word of over 100 characters as one token
ESTIMATED_TOKENS = 1.25  # tokens of another model's tokenizer per token of the bundled one
ESTIMATED_BYTES_PER_TOKEN = 2  # for another tokenizer, in scripts that the bundled one knows badly or not at all
LONGEST_KNOWN_WORD = 20  # characters; longer tokens of the bundled tokenizer are unknown words
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Passage:
    """`box` is on `page`, the first page, even if the passage continues to `page_end`. `cells` is like A1:D20.

    `boxes` are those of its lines, on all pages.
    """

    content: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    page_end: int | None = None
    box: Box | None = None
    boxes: tuple[LineBox, ...] = ()
    line_start: int | None = None
    line_end: int | None = None
    cells: str | None = None


def storable(text: str) -> str:
    """Removes NUL and lone surrogates, which neither UTF-8 nor PostgreSQL can hold."""
    return UNSTORABLE.sub(lambda found: "" if found[0] == "\x00" else "\ufffd", text)


@dataclass(frozen=True, slots=True)
class TokenPositions:
    """The offsets at which the tokens of a text end, and their running totals, which begin with 0."""

    ends: Sequence[int]
    totals: Sequence[float]

    def between(self, start: int, end: int) -> int:
        """Returns the size of a span in tokens, or by its number of characters if overlong words make that larger."""
        tokens = self.totals[bisect_right(self.ends, end)] - self.totals[bisect_right(self.ends, start)]
        return max(math.ceil(tokens), (end - start) // CHARACTERS_PER_TOKEN)

    def reach(self, start: int, tokens: int) -> int:
        """Returns the offset that is `tokens` tokens after `start`; always past `start` unless the text ends."""
        first = bisect_right(self.ends, start)
        last = max(bisect_right(self.totals, self.totals[first] + tokens) - 1, first + 1)
        return self.ends[last - 1] if last <= len(self.ends) else start + tokens * CHARACTERS_PER_TOKEN

    def reach_back(self, end: int, tokens: int) -> int:
        """Returns the offset at which the last `tokens` tokens before `end` begin."""
        last = bisect_right(self.ends, end)
        first = bisect_right(self.totals, self.totals[last] - tokens - 1e-9)
        return self.ends[first - 1] if first else 0


@dataclass(frozen=True)
class TokenBudget:
    """Counts tokens like the embedding model, or slightly more if only its limit is known, and limits passages."""

    tokenizer: Tokenizer
    options: ChunkOptions = field(default_factory=ChunkOptions)

    @property
    def special_tokens(self) -> int:
        """The number of tokens that the encoder adds around a text."""
        return max(2, int(self.tokenizer.num_special_tokens_to_add(False)))

    @property
    def limit(self) -> int:
        """The most tokens that headings and content may have together."""
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
        """Counts tokens, or more for text whose overlong words the tokenizer counts as one."""
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
        """Returns the innermost headings that leave room for content; shortens an overlong innermost heading."""
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
    """Loads the tokenizer that the options name, which takes some 50 ms."""
    if options.tokenizer is None:
        return TokenBudget(load_minilm_tokenizer(), options)
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenBudget(tokenizer, options)


def _estimate(token: str) -> float:
    """Estimates how many tokens of another tokenizer correspond to this token of the bundled one."""
    if not token.isascii():
        return max(ESTIMATED_TOKENS, len(token.encode()) / ESTIMATED_BYTES_PER_TOKEN)
    return len(token) / ESTIMATED_BYTES_PER_TOKEN if len(token) > LONGEST_KNOWN_WORD else ESTIMATED_TOKENS
