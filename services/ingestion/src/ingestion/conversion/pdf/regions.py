"""Regions of a page, and the rules that find them by its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docling.datamodel.base_models import Cluster
from docling_core.types.doc.labels import DocItemLabel

from ingestion.conversion.pdf.lines import Box, TextLine, enclosing_box, rows
from ingestion.conversion.pdf.paragraphs import paragraphs

MARGIN = 0.075  # share of the page's height, at top and bottom, for running heads and page numbers
FIGURE_TEXT_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Region:
    label: DocItemLabel
    box: Box
    confidence: float = 0.9


def clusters(regions: Sequence[Region], width: float, height: float) -> list[Cluster]:
    """Converts the regions of a page of this size to docling's clusters."""
    return [
        Cluster(
            id=number,
            label=region.label,
            confidence=region.confidence,
            cells=[],
            bbox=region.box.clipped(width, height),
        )
        for number, region in enumerate(regions)
    ]


def text_regions(
    lines: Sequence[TextLine], page_height: float, body_height: float, margins: bool = True
) -> list[Region]:
    """Returns running heads and feet, if the page has `margins`, followed by the paragraphs between them."""
    body: list[TextLine] = []
    marginal: list[TextLine] = []
    for line in lines:
        (marginal if margins and in_margin(line, page_height, body_height) else body).append(line)
    return [_margin_region(row, page_height) for row in rows(marginal)] + [
        Region(paragraph.label(body_height), paragraph.box) for paragraph in paragraphs(body)
    ]


def scanned_regions(detected: Sequence[Region], width: float, height: float) -> list[Region]:
    """Returns the regions of a scan in which to recognise text; the whole page if none was detected."""
    textual = [region for region in detected if region.label is not DocItemLabel.PICTURE]
    return textual or [Region(DocItemLabel.TEXT, Box(0, 0, width, height))]


def swallows_text(figure: Region, lines: Sequence[TextLine]) -> bool:
    """Returns whether a figure holds so much of the page's text, lost on export, that it cannot be a figure."""
    inside = sum(len(line.text) for line in lines if figure.box.holds(line))
    return inside >= FIGURE_TEXT_SHARE * sum(len(line.text) for line in lines) > 0


def in_margin(line: TextLine, page_height: float, body_height: float) -> bool:
    """Returns whether a line is in a margin and, like running heads and page numbers, no larger than body text."""
    at_edge = line.bottom < MARGIN * page_height or line.top > (1 - MARGIN) * page_height
    return at_edge and line.height <= body_height * 1.25


def _margin_region(row: Sequence[TextLine], page_height: float) -> Region:
    at_top = row[0].bottom < page_height / 2
    return Region(DocItemLabel.PAGE_HEADER if at_top else DocItemLabel.PAGE_FOOTER, enclosing_box(row))
