"""Splits text without structure at blank lines, then at line breaks, sentences and spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ingestion.conversion.passages import CHARACTERS_PER_TOKEN, Passage, TokenBudget

SEPARATORS = (
    re.compile(r"\n(?:[^\S\n]*+\n)++"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？])\s+"),
    re.compile(r"\s+"),
)
WORD_START = re.compile(r"(?<=\s)\S")
Span = tuple[int, int]


def pack(
    text: str, budget: TokenBudget, heading_path: tuple[str, ...] = (), first_line: int | None = None
) -> list[Passage]:
    """Returns passages that together contain all of `text`, each as long as the budget allows.

    Each passage but the first repeats the end of the previous one, by up to `overlap_tokens` of the budget's options.
    `first_line` is the line number of the text's beginning in its file; None if the format has no lines.
    """
    passages = []
    splitter = _Splitter(text, budget, budget.room(heading_path))
    for start, end in splitter.overlapping(list(splitter.spans())):
        content = text[start:end]
        begin = start + len(content) - len(content.lstrip("\n"))
        lines = None if first_line is None else first_line + text.count("\n", 0, begin)
        passage = Passage(
            content=content.strip("\n"),
            heading_path=heading_path,
            line_start=lines,
            line_end=None if lines is None else lines + content.strip("\n").count("\n"),
        )
        if budget.fits(passage):
            passages.append(passage)
        else:  # a piece of a cut word may have more tokens than were counted for it in the whole text
            half = start + max(1, (end - start) // 2)
            passages += pack(text[start:half], budget, heading_path, _line_at(text, start, first_line))
            passages += pack(text[half:end], budget, heading_path, _line_at(text, half, first_line))
    return passages


def _line_at(text: str, offset: int, first_line: int | None) -> int | None:
    return None if first_line is None else first_line + text.count("\n", 0, offset)


class _Splitter:
    """Splits by offsets: the whole text is encoded once, and the tokens of a span are looked up by its offsets."""

    def __init__(self, text: str, budget: TokenBudget, room: int) -> None:
        self._text = text
        self._positions = budget.positions(text)
        whole = self._size(0, len(text)) <= room
        self._overlap = 0 if whole else min(budget.options.overlap_tokens, room // 2)
        self._room = max(room - self._overlap, 1)

    def spans(self) -> Iterator[Span]:
        for start, end in self._split(0, len(self._text), 0):
            content = self._text[start:end]
            if content.strip():
                yield _trimmed(content, start)

    def overlapping(self, spans: list[Span]) -> list[Span]:
        """Returns the spans, with all but the first extended backwards to a word of the previous span."""
        if not self._overlap:
            return spans
        return spans[:1] + [(self._begun_earlier(start, before[0]), end) for before, (start, end) in pairwise(spans)]

    def _begun_earlier(self, start: int, earliest: int) -> int:
        back = self._positions.reach_back(start, self._overlap)
        back = max(back, earliest, start - self._overlap * CHARACTERS_PER_TOKEN)
        if back == earliest:
            return earliest
        word = WORD_START.search(self._text, back + 1, start)
        return word.start() if word else start

    def _size(self, start: int, end: int) -> int:
        return self._positions.between(start, end)

    def _split(self, start: int, end: int, level: int) -> Iterator[Span]:
        if self._size(start, end) <= self._room:
            yield start, end
        elif level == len(SEPARATORS):
            yield from self._cut(start, end)
        else:
            for group in self._grouped(self._parts(start, end, SEPARATORS[level])):
                yield from self._split(*group, level + 1)

    def _parts(self, start: int, end: int, separator: re.Pattern[str]) -> Iterator[Span]:
        before = start
        for found in separator.finditer(self._text, start, end):
            if found.end() < end and found.start() > before:
                yield before, found.end()
                before = found.end()
        yield before, end

    def _grouped(self, parts: Iterable[Span]) -> Iterator[Span]:
        group: Span | None = None
        for start, end in parts:
            if group is None:
                group = start, end
            elif self._size(group[0], end) <= self._room:
                group = group[0], end
            else:
                yield group
                group = start, end
        if group is not None:
            yield group

    def _cut(self, start: int, end: int) -> Iterator[Span]:
        """Cuts up a word that is longer than a chunk, such as an encoded image."""
        while start < end:
            stop = self._positions.reach(start, self._room)
            stop = min(end, stop, start + self._room * CHARACTERS_PER_TOKEN)
            yield start, stop
            start = stop


def _trimmed(content: str, start: int) -> Span:
    """Strips leading blank lines and trailing white space; the first line keeps its indent."""
    lead = re.match(r"(?:[^\S\n]*+\n)*+", content)
    skipped = lead.end() if lead else 0
    return start + skipped, start + len(content.rstrip())
