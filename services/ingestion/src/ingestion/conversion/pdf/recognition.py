"""Text recognition (OCR) of pages without native text, with the PP-OCR models in the rapidocr wheel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import rapidocr
from docling.datamodel.accelerator_options import AcceleratorOptions
from docling.datamodel.base_models import Page
from docling.datamodel.pipeline_options import OcrMode, RapidOcrOptions
from docling.models.stages.ocr.rapid_ocr_model import RapidOcrModel
from docling_core.types.doc.base import BoundingBox, CoordOrigin

from ingestion.conversion.pdf.lines import page_size

DETECTION = "PP-OCRv6_det_small.onnx"
CLASSIFICATION = "ch_ppocr_mobile_v2.0_cls_mobile.onnx"
RECOGNITION = "PP-OCRv6_rec_small.onnx"


class BundledOcrOptions(RapidOcrOptions):
    """Options of the recognition. A page with fewer than `scanned_below_characters` native characters is a scan."""

    scanned_below_characters: int = 25


class BundledOcrModel(RapidOcrModel):
    """Docling's RapidOCR engine on onnxruntime.

    If enabled, the base constructor asks torch for a device. So it is built disabled, which sets every attribute, and
    gets its reader afterwards.
    """

    def __init__(
        self,
        options: BundledOcrOptions,
        accelerator_options: AcceleratorOptions,
        reader: Callable[[], rapidocr.RapidOCR],
    ) -> None:
        super().__init__(False, None, options, accelerator_options)
        self.enabled = True
        self._scanned_below = options.scanned_below_characters
        self._load = reader

    @cached_property
    def reader(self) -> rapidocr.RapidOCR:  # type: ignore[override]  # Docling's is an attribute
        """The models, loaded with the first scanned page."""
        return self._load()

    @classmethod
    def get_options_type(cls) -> type[BundledOcrOptions]:
        return BundledOcrOptions

    def get_ocr_rects(self, page: Page) -> list[BoundingBox]:
        native = sum(len(cell.text.strip()) for cell in page.cells)
        if self.options.mode is not OcrMode.FULL_PAGE and native >= self._scanned_below:
            return []
        size = page_size(page)
        return [BoundingBox(l=0, t=0, r=size.width, b=size.height, coord_origin=CoordOrigin.TOPLEFT)]


def load_reader(options: RapidOcrOptions, threads: int) -> rapidocr.RapidOCR:
    """Loads the models."""
    engine = rapidocr.EngineType.ONNXRUNTIME
    return rapidocr.RapidOCR(
        params={
            "Global.text_score": options.text_score,
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "Det.engine_type": engine,
            "Cls.engine_type": engine,
            "Rec.engine_type": engine,
            "Det.model_path": _model(DETECTION),
            "Cls.model_path": _model(CLASSIFICATION),
            "Rec.model_path": _model(RECOGNITION),
        }
    )


def _model(name: str) -> str:
    path = Path(rapidocr.__file__).parent / "models" / name
    if not path.is_file():  # otherwise rapidocr would try to download it
        raise FileNotFoundError(f"the installed rapidocr holds no model {name}")
    return str(path)
