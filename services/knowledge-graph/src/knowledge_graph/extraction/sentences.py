"""Where the sentences of a text begin and end, by punctuation and lines: the same in every mode of extraction."""

from __future__ import annotations

import re
from bisect import bisect_right

from knowledge_graph.extraction.word_lists import words

ABBREVIATIONS = words("abbreviations")
# A full stop, or what ends a block: an empty line, or a line break before a list item, heading, quotation or table row.
BOUNDARY = re.compile(
    r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\W_a-zß-öø-ÿ])|\n\s*\n\s*|\n(?=[ \t]*(?:[-*•+|>#]|\d+[.)])\s)|[。！？]\s*"
)
LAST_WORD = re.compile(r"([^\W\d_][\w.]*)$")


class Sentences:
    """Half-open character spans, in order, without the space around them."""

    def __init__(self, text: str) -> None:
        self.spans: list[tuple[int, int]] = []
        start = 0
        for match in BOUNDARY.finditer(text):
            if match.group()[0] == "." and _is_abbreviation(text, match.start()):
                continue
            self._add(text, start, match.end())
            start = match.end()
        self._add(text, start, len(text))
        self._starts = [first for first, _ in self.spans]

    def at(self, place: int) -> tuple[int, int]:
        """The sentence that holds the character; (0, 0) when the text has none."""
        return self.spans[max(0, bisect_right(self._starts, place) - 1)] if self.spans else (0, 0)

    def _add(self, text: str, start: int, end: int) -> None:
        part = text[start:end]
        if part.strip():
            self.spans.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))


def _is_abbreviation(text: str, stop: int) -> bool:
    found = LAST_WORD.search(text, max(0, stop - 20), stop)
    return found is not None and (len(found.group(1)) == 1 or found.group(1).lower() in ABBREVIATIONS)
