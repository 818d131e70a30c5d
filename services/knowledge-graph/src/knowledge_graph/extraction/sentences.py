"""Where the sentences of a text begin and end, by punctuation and lines: the same in every mode of extraction."""

from __future__ import annotations

from bisect import bisect_right

from service_kit.sentences import BLOCKS, sentences


class Sentences:
    """Half-open character spans, in order, without the space around them."""

    def __init__(self, text: str) -> None:
        self.spans = sentences(text, BLOCKS)
        self._starts = [first for first, _ in self.spans]

    def at(self, place: int) -> tuple[int, int]:
        """The sentence that holds the character; (0, 0) when the text has none."""
        return self.spans[max(0, bisect_right(self._starts, place) - 1)] if self.spans else (0, 0)
