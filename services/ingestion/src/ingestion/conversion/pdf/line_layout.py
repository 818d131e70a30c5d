"""Page layout from the lines of native text alone: fast, and blind to what is only drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from docling.datamodel.base_models import Page
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.pdf.lines import Box, TextLine, enclosing_box, page_size, rows
from ingestion.conversion.pdf.page_layout import PageLayoutModel
from ingestion.conversion.pdf.regions import Region, scanned_regions, swallows_text, text_regions

FEWEST_ROWS = 3  # of a table, with two cells or more
SMALLEST_PICTURE = 20  # points
PICTURE_SHARE = (0.005, 0.8)  # of the page's area; larger ones are backgrounds or scans

Row = list[TextLine]


class LineLayoutModel(PageLayoutModel):
    """Paragraphs by spacing, tables by aligned cells, pictures where bitmaps lie."""

    def regions(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Region]:
        size = page_size(page)
        if not lines:
            return scanned_regions([], size.width, size.height)
        pictures = [each for each in _pictures(page) if not swallows_text(each, lines)]
        tables = [Region(DocItemLabel.TABLE, box) for box in table_boxes(lines, body_height)]
        rest = [line for line in lines if not any(table.box.holds(line) for table in tables)]
        return [*pictures, *tables, *text_regions(rest, size.height, body_height)]


def table_boxes(lines: Sequence[TextLine], body_height: float) -> list[Box]:
    """Where three or more rows on end have cells whose left edges line up, too short for columns of prose."""
    found: list[Box] = []
    block: list[Row] = []
    for row in [*rows(lines), None]:
        if block and (row is None or row[0].top - max(line.bottom for line in block[-1]) > 2.2 * body_height):
            found += _table(block, body_height)
            block = []
        if row is None:
            break
        if _is_tabular(row, body_height) or (block and _may_stand_in_table(row, block, body_height)):
            block.append(row)
        else:
            found += _table(block, body_height)
            block = []
    return found


def _is_tabular(row: Row, body_height: float) -> bool:
    gaps = [right.left - left.right for left, right in pairwise(row)]
    return bool(gaps) and min(gaps) > 0.6 * body_height


def _may_stand_in_table(row: Row, block: Sequence[Row], body_height: float) -> bool:
    """A short line between the rows, such as a group's name."""
    others = sum(not _is_tabular(each, body_height) for each in block)
    return len(row) == 1 and len(row[0].text) < 60 and others < len(block) / 2


def _table(block: Sequence[Row], body_height: float) -> list[Box]:
    kept = list(block)
    while kept and not _is_tabular(kept[-1], body_height):
        kept.pop()
    tabular = [row for row in kept if _is_tabular(row, body_height)]
    if len(tabular) < FEWEST_ROWS:
        return []
    cells = [line for row in tabular for line in row]
    edges = Counter(round(cell.left / 6) for cell in cells)
    aligned = sum(sum(edges[round(cell.left / 6) + step] for step in (-1, 0, 1)) >= 3 for cell in cells)
    length = sum(len(cell.text) for cell in cells) / len(cells)
    columns = max(len(row) for row in tabular)
    if aligned <= len(cells) / 2 or not (length < 28 or (columns >= 3 and length < 45)):
        return []
    return [enclosing_box([line for row in kept for line in row])]


def _pictures(page: Page) -> list[Region]:
    size = page_size(page)
    parsed = page.parsed_page
    found: list[Region] = []
    for bitmap in parsed.bitmap_resources if parsed else []:
        box = bitmap.rect.to_bounding_box().to_top_left_origin(size.height)
        left, top = max(box.l, 0), max(box.t, 0)
        width, height = min(box.r, size.width) - left, min(box.b, size.height) - top
        share = width * height / (size.width * size.height)
        if min(width, height) > SMALLEST_PICTURE and PICTURE_SHARE[0] < share < PICTURE_SHARE[1]:
            found.append(Region(DocItemLabel.PICTURE, Box(left, top, left + width, top + height), 0.8))
    return found
