"""The lines of text on a page, for the layout rules. Coordinates are points from the upper left corner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from docling_core.types.doc.base import BoundingBox, CoordOrigin

if TYPE_CHECKING:
    from docling.datamodel.base_models import Page
    from docling_core.types.doc.base import Size
    from docling_core.types.doc.page import TextCell

BOLD_FONTS = ("bold", "black", "heavy", "semibold", "-bd", "demi")
MONOSPACED_FONTS = ("mono", "courier", "consol", "typewriter", "cmtt")


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, line: TextLine) -> bool:
        """Returns whether the middle of the line lies inside, with a tolerance of one point."""
        across, down = (line.left + line.right) / 2, (line.top + line.bottom) / 2
        return self.left - 1 <= across <= self.right + 1 and self.top - 1 <= down <= self.bottom + 1

    def clipped(self, width: float, height: float) -> BoundingBox:
        """Returns the part of the box that lies on a page of this size."""
        return BoundingBox(
            l=max(self.left, 0),
            t=max(self.top, 0),
            r=min(self.right, width),
            b=min(self.bottom, height),
            coord_origin=CoordOrigin.TOPLEFT,
        )


@dataclass(frozen=True, slots=True)
class TextLine:
    """A run of text on one line; a table row consists of several."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    bold: bool
    monospaced: bool

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def text_lines(cells: Iterable[TextCell], page_height: float) -> list[TextLine]:
    return [_text_line(cell, page_height) for cell in cells if cell.text.strip()]


def page_size(page: Page) -> Size:
    """Returns the size in points; raises ValueError before the page is preprocessed."""
    if page.size is None:
        raise ValueError("the page was not preprocessed")
    return page.size


def page_lines(page: Page) -> list[TextLine]:
    """Returns the lines of native text on a page; none if the page could not be parsed."""
    if page._backend is None or not page._backend.is_valid():
        return []
    return text_lines(page.cells, page_size(page).height)


def _text_line(cell: TextCell, page_height: float) -> TextLine:
    box = cell.rect.to_bounding_box().to_top_left_origin(page_height)
    font = (getattr(cell, "font_name", "") or "").lower()
    return TextLine(
        left=box.l,
        top=box.t,
        right=box.r,
        bottom=box.b,
        text=cell.text,
        bold=any(word in font for word in BOLD_FONTS),
        monospaced=any(word in font for word in MONOSPACED_FONTS),
    )


def enclosing_box(lines: Sequence[TextLine]) -> Box:
    return Box(
        min(line.left for line in lines),
        min(line.top for line in lines),
        max(line.right for line in lines),
        max(line.bottom for line in lines),
    )


def rows(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Groups lines that are side by side into rows, from top to bottom, each from left to right."""
    found: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda each: each.middle):
        if found and _same_row(found[-1][0], line):
            found[-1].append(line)
        else:
            found.append([line])
    for row in found:
        row.sort(key=lambda each: each.left)
    return found


def _same_row(first: TextLine, line: TextLine) -> bool:
    overlaps = first.top - 1 <= line.middle <= first.bottom + 1
    return overlaps and abs(line.middle - first.middle) < 0.5 * max(line.height, 4)


class LineHeights:
    """Determines the height of body text: the line height of most characters of the document so far."""

    def __init__(self) -> None:
        self._characters: Counter[float] = Counter()

    def add(self, lines: Iterable[TextLine]) -> None:
        for line in lines:
            self._characters[round(line.height * 2) / 2] += len(line.text)

    def body(self) -> float:
        """Returns the height of body text in points; 10 before any text was added."""
        return self._characters.most_common(1)[0][0] if self._characters else 10.0
