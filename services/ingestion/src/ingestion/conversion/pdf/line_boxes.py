"""Finds the lines of pages in the text of passages, so that a quote can be marked even where a page is a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from contracts.base import LineBox
from ingestion.conversion.pdf.lines import Box, TextLine, page_size, text_lines

if TYPE_CHECKING:
    from docling.datamodel.base_models import Page
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.items.node import DocItem

MOST_BOXES = 200  # of a passage; a table may have many short lines
TELLING = 12  # letters in a row that hardly occur by chance
NEARBY = 300  # letters within which the lines of a table's row may change places
BESIDE = 3  # lines from one whose place is known
PageLines = Mapping[int, Sequence[TextLine]]
PagedLine = tuple[int, TextLine]
Span = tuple[int, int]


def lines_by_page(pages: Sequence[Page]) -> PageLines:
    """Returns the lines of each page, native or recognised, in the order in which their text was joined."""
    found: dict[int, list[TextLine]] = {}
    for page in pages:
        for element in page.assembled.elements if page.assembled else ():
            found.setdefault(page.page_no, []).extend(text_lines(element.cluster.cells, page_size(page).height))
    return found


def lines_of(items: Sequence[DocItem], document: DoclingDocument, lines: PageLines) -> list[PagedLine]:
    """Returns the lines inside the items, once each, with their pages."""
    found: dict[PagedLine, None] = {}
    for place in (place for item in items for place in item.prov):
        area = place.bbox.to_top_left_origin(document.pages[place.page_no].size.height)
        box = Box(area.l, area.t, area.r, area.b)
        found |= {(place.page_no, line): None for line in lines.get(place.page_no, ()) if box.holds(line)}
    return list(found)


def line_boxes(parts: Sequence[str], lines: Sequence[PagedLine]) -> list[list[LineBox]]:
    """Returns the boxes of each part of the lines' text; the parts are in order, and may overlap."""
    folded = [_Letters.of(line.text).text for _, line in lines]
    whole, ends = "".join(folded), list(accumulate(map(len, folded), initial=0))
    earliest, found = 0, []
    for part in map(_Letters.of, parts):
        begin = whole.find(part.text, earliest)
        if begin >= 0:
            spans = [(start - begin, end - begin) for start, end in pairwise(ends)]
            earliest = begin + 1
        else:
            spans = _apart(part, folded)
        boxes = [
            _box(part, span, *line)
            for span, line in zip(spans, lines, strict=True)
            if max(span[0], 0) < min(span[1], len(part.text))
        ]
        found.append(boxes[:MOST_BOXES])
    return found


class _Letters(NamedTuple):
    """The letters and digits of a text, as they compare, and where each of them is in it."""

    text: str
    places: list[int]

    @classmethod
    def of(cls, text: str) -> _Letters:
        letters, places = [], []
        for place, character in enumerate(text):
            for letter in character.lower() if character.isascii() else normalize("NFKC", character).casefold():
                if letter.isalnum():
                    letters.append(letter)
                    places.append(place)
        return cls("".join(letters), places)

    def occurrences(self, text: str, start: int, end: int) -> Iterator[int]:
        """Yields where whole words of the text begin, between two positions."""
        at = self.text.find(text, max(start, 0), end)
        while at >= 0:
            if self._parts_words(at) and self._parts_words(at + len(text)):
                yield at
            at = self.text.find(text, at + 1, end)

    def _parts_words(self, at: int) -> bool:
        return at in {0, len(self.places)} or self.places[at] - self.places[at - 1] > 1


def _box(part: _Letters, span: Span, page: int, line: TextLine) -> LineBox:
    """Returns the box of a line; of one that the part has only some letters of, a share of its width."""
    first, last = max(span[0], 0), min(span[1], len(part.text))
    letter = (line.right - line.left) / (span[1] - span[0])
    left, right = line.left + (first - span[0]) * letter, line.right - (span[1] - last) * letter
    return LineBox(
        page=page,
        box=(round(left, 1), round(line.top, 1), round(right, 1), round(line.bottom, 1)),
        start=part.places[first],
        end=part.places[last - 1] + 1,
    )


def _apart(part: _Letters, folded: Sequence[str]) -> list[Span]:
    """Returns where lines are that do not follow each other, as in tables; an empty span if it is not known.

    Lines that are found by themselves or together with the next come first, then their neighbours.
    """
    starts = _told_apart(part, folded)
    taken = bytearray(len(part.text))
    for line, start in starts.items():
        taken[start : start + len(folded[line])] = b"\x01" * len(folded[line])
    first = min(starts, default=len(folded))
    # Those before the first come last: they are rather of another part.
    for line in (*range(first, len(folded)), *range(first - 1, max(first - BESIDE, 0) - 1, -1)):
        around = [starts[one] for one in range(line - BESIDE, line + BESIDE + 1) if one in starts]
        if line in starts or not folded[line] or not around:
            continue
        size = len(folded[line])
        for start in part.occurrences(folded[line], min(around) - NEARBY, max(around) + NEARBY):
            if not any(taken[start : start + size]):
                starts[line] = start
                taken[start : start + size] = b"\x01" * size
                break
    return [(starts[line], starts[line] + len(text)) if line in starts else (0, 0) for line, text in enumerate(folded)]


def _told_apart(part: _Letters, folded: Sequence[str]) -> dict[int, int]:
    starts: dict[int, int] = {}
    for first in range(len(folded)):
        run, last = "", first
        while len(run) < TELLING and last < len(folded):
            run += folded[last]
            last += 1
        if len(run) >= TELLING and part.text.count(run) == 1:
            at = part.text.index(run)
            for line in range(first, last):
                starts.setdefault(line, at)
                at += len(folded[line])
    return starts
