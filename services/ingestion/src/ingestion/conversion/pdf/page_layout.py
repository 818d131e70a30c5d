"""The base of the layout engines: docling's interface, and the height of the document's body text."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from docling.datamodel.base_models import Cluster, LayoutPrediction, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import BaseLayoutOptions
from docling.models.base_layout_model import BaseLayoutModel

from ingestion.conversion.pdf.lines import LineHeights, TextLine, page_lines, page_size
from ingestion.conversion.pdf.regions import Region, clusters


class GivenLayoutOptions(BaseLayoutOptions):
    """Options of a pipeline whose layout engine is built by its caller."""

    kind: ClassVar[str] = "given"


class PageLayoutModel(BaseLayoutModel):
    """A layout engine that is given a page and its lines. One document at a time may use it."""

    def __init__(self) -> None:
        self.options = GivenLayoutOptions()
        self._heights = LineHeights()
        self._document: weakref.ref[ConversionResult] | None = None

    @abstractmethod
    def regions(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Region]:
        """Finds the regions of a page. `lines` is its native text, empty on a scan."""

    @classmethod
    def get_options_type(cls) -> type[GivenLayoutOptions]:
        return GivenLayoutOptions

    def predict_layout(self, conv_res: ConversionResult, pages: Iterable[Page]) -> list[LayoutPrediction]:
        if self._document is None or self._document() is not conv_res:
            self._document, self._heights = weakref.ref(conv_res), LineHeights()
        batch = [(page, page_lines(page)) for page in pages]
        for _, lines in batch:
            self._heights.add(lines)
        body_height = self._heights.body()
        return [LayoutPrediction(clusters=self._clusters(page, lines, body_height)) for page, lines in batch]

    def _clusters(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Cluster]:
        size = page_size(page)
        return clusters(self.regions(page, lines, body_height), size.width, size.height)
