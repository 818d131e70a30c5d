"""The models of PDF conversions, loaded at first use and kept for later files of the process."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ingestion.conversion.engines import ENGINE_NAMES, heron_folder, pdf_engine
from ingestion.conversion.pdf.page_layout import PageLayoutModel
from ingestion.conversion.pdf.pipeline import BundledPdfPipeline, TorchPdfPipeline, bundled_options, docling_options
from ingestion.conversion.pdf.recognition import BundledOcrOptions, load_reader
from ingestion.conversion.values import PdfOptions

if TYPE_CHECKING:
    import rapidocr
    from docling.pipeline.base_pipeline import ConvertPipeline


class PdfModels:
    """The pipelines of the configured engine, and their models. One document at a time may use them."""

    def __init__(self, options: PdfOptions, threads: int) -> None:
        """Raises EngineUnavailable."""
        self._artifacts = options.artifacts
        self._engine = pdf_engine(options)
        self._threads = threads
        self._pipelines: dict[bool, ConvertPipeline] = {}

    @property
    def name(self) -> str:
        """The engine's name, as recorded with documents."""
        return ENGINE_NAMES[self._engine]

    def pipeline(self, every_page_is_scanned: bool) -> ConvertPipeline:
        found = self._pipelines.get(every_page_is_scanned)
        if found is None:
            found = self._pipelines[every_page_is_scanned] = self._built(every_page_is_scanned)
        return found

    @cached_property
    def _reader(self) -> rapidocr.RapidOCR:
        """The text recognition, loaded with the first scanned page, because most documents have none."""
        return load_reader(BundledOcrOptions(), self._threads)

    @cached_property
    def _layout(self) -> PageLayoutModel:
        if self._engine == "heron" and self._artifacts is not None:
            from ingestion.conversion.pdf.heron import HeronDetector, HeronLayoutModel  # noqa: PLC0415 - its own need

            return HeronLayoutModel(HeronDetector(heron_folder(self._artifacts), self._threads))
        from ingestion.conversion.pdf.layout import RapidLayoutModel, rapid_detector  # noqa: PLC0415 - likewise

        return RapidLayoutModel(rapid_detector(self._threads))

    def _built(self, every_page_is_scanned: bool) -> ConvertPipeline:
        if self._engine == "docling" and self._artifacts is not None:
            options = docling_options(every_page_is_scanned, self._threads, self._artifacts)
            return TorchPdfPipeline(options, lambda: self._reader)
        options = bundled_options(every_page_is_scanned, self._threads)
        return BundledPdfPipeline(options, self._layout, lambda: self._reader)
