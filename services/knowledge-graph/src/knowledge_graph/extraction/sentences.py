"""Splits a text into sentences by punctuation and lines, the same in every mode of extraction."""

from __future__ import annotations

from bisect import bisect_right

from service_kit.sentences import BLOCKS, sentences


class Sentences:
    """The sentences of a text as half-open character spans, in order, without surrounding space."""

    def __init__(self, text: str) -> None:
        self.spans = sentences(text, BLOCKS)
        self._starts = [first for first, _ in self.spans]

    def at(self, place: int) -> tuple[int, int]:
        """Returns the sentence that contains the character; (0, 0) if the text has none."""
        return self.spans[max(0, bisect_right(self._starts, place) - 1)] if self.spans else (0, 0)
