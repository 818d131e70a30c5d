"""Docling's threaded PDF pipeline, with its models built directly.

StandardPdfPipeline gets its models from engine factories, which import torch. `BundledPdfPipeline` sets the same
attributes itself. The pipeline's stages read them, so docling-slim is pinned to an exact release.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.pipeline_options import LayoutPostprocessorOptions, OcrMode, ThreadedPdfPipelineOptions
from docling.models.stages.form_field.form_field_model import PdfFormFieldModel
from docling.models.stages.heading_hierarchy.heading_hierarchy_model import HeadingHierarchyModel
from docling.models.stages.layout.layout_postprocessing_model import LayoutPostprocessingModel
from docling.models.stages.page_assemble.page_assemble_model import PageAssembleModel, PageAssembleOptions
from docling.models.stages.page_preprocessing.page_preprocessing_model import (
    PagePreprocessingModel,
    PagePreprocessingOptions,
    resolve_skip_cell_extraction,
)
from docling.models.stages.reading_order.readingorder_model import ReadingOrderModel, ReadingOrderOptions
from docling.pipeline.standard_pdf_pipeline import StandardPdfPipeline

from ingestion.conversion.pdf.page_layout import PageLayoutModel
from ingestion.conversion.pdf.recognition import BundledOcrModel, BundledOcrOptions
from ingestion.conversion.pdf.tables import LineTableModel, LineTableOptions

if TYPE_CHECKING:
    import rapidocr

Reader = Callable[[], "rapidocr.RapidOCR"]
PAGES_AHEAD = 8  # of each stage; a dense page holds 14 MB until its layout is known, and docling's 100 exceed 2 GB


def bundled_options(every_page_is_scanned: bool, threads: int) -> ThreadedPdfPipelineOptions:
    """Returns options by which pages with native text are parsed and the others recognised."""
    options = ThreadedPdfPipelineOptions(
        accelerator_options=AcceleratorOptions(num_threads=threads, device="cpu"),
        do_table_structure=True,
        do_ocr=True,
        queue_max_size=PAGES_AHEAD,
        ocr_options=BundledOcrOptions(mode=OcrMode.FULL_PAGE if every_page_is_scanned else OcrMode.DEFAULT),
    )
    options.heading_hierarchy_options.enabled = True
    return options


def docling_options(every_page_is_scanned: bool, threads: int, artifacts: Path) -> ThreadedPdfPipelineOptions:
    """Returns `bundled_options` with Heron and TableFormer from the folder."""
    options = bundled_options(every_page_is_scanned, threads)
    options.artifacts_path = artifacts
    return options


class BundledPdfPipeline(StandardPdfPipeline):
    """Layout, tables and text recognition without torch or downloads. No picture or formula enrichment."""

    def __init__(self, options: ThreadedPdfPipelineOptions, layout: PageLayoutModel, reader: Reader) -> None:
        self._layout, self._reader = layout, reader
        super().__init__(options)

    def _init_models(self) -> None:
        options, layout = self.pipeline_options, self._layout.options
        self.keep_images = False
        self.keep_backend = False
        self.enrichment_pipe = []
        self.preprocessing_model = PagePreprocessingModel(
            options=PagePreprocessingOptions(
                images_scale=options.images_scale,
                skip_cell_extraction=resolve_skip_cell_extraction(options),
                capture_reading_order_separators=options.use_reading_order_separators,
            )
        )
        self.ocr_model = _recognition(options, self._reader)
        self.layout_model = self._layout
        self.layout_postprocessing_model = LayoutPostprocessingModel(
            options=LayoutPostprocessorOptions(
                skip_cell_assignment=layout.skip_cell_assignment,
                keep_empty_clusters=layout.keep_empty_clusters,
                create_orphan_clusters=layout.create_orphan_clusters,
                run_postprocessor=self.layout_model.requires_layout_postprocessing,
            )
        )
        self.table_model = LineTableModel(LineTableOptions())
        self.form_field_model = PdfFormFieldModel(enabled=options.extract_form_fields)
        self.assemble_model = PageAssembleModel(options=PageAssembleOptions())
        self.reading_order_model = ReadingOrderModel(
            options=ReadingOrderOptions(use_page_separators=options.use_reading_order_separators)
        )
        self.heading_hierarchy_model = HeadingHierarchyModel(options=options.heading_hierarchy_options)


class TorchPdfPipeline(StandardPdfPipeline):
    """Docling's own models, but with the bundled text recognition."""

    def __init__(self, options: ThreadedPdfPipelineOptions, reader: Reader) -> None:
        self._reader = reader
        super().__init__(options)

    def _make_ocr_model(self, art_path: Path | None) -> Any:  # noqa: ARG002 - docling's signature
        return _recognition(self.pipeline_options, self._reader)


def _recognition(options: ThreadedPdfPipelineOptions, reader: Reader) -> BundledOcrModel:
    if not isinstance(options.ocr_options, BundledOcrOptions):
        raise TypeError("this pipeline takes the options of this module")
    return BundledOcrModel(options.ocr_options, options.accelerator_options, reader)
