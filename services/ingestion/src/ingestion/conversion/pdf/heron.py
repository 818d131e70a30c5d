"""Page layout by Heron, docling's own detector (RT-DETR v2), on onnxruntime.

The model and its configuration come from DOCLING_ARTIFACTS. `Preprocessing` stands in for its image processor,
RTDetrImageProcessor, because transformers is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from docling.datamodel.base_models import Page
from docling_core.types.doc.labels import DocItemLabel
from numpy.typing import NDArray
from PIL import Image

from ingestion.conversion.pdf.lines import Box, TextLine, page_size
from ingestion.conversion.pdf.page_layout import PageLayoutModel
from ingestion.conversion.pdf.regions import Region, scanned_regions, swallows_text

CONFIDENCE = 0.3  # docling's own threshold
IMAGE_SCALE = 1.0  # relative to 72 dpi, as in docling


@dataclass(frozen=True)
class Preprocessing:
    """The settings in `preprocessor_config.json`. `mean` and `deviation` are per channel, None without normalising."""

    width: int
    height: int
    resample: Image.Resampling
    factor: float
    mean: tuple[float, ...] | None
    deviation: tuple[float, ...] | None

    @classmethod
    def of(cls, config: dict[str, Any]) -> Preprocessing:
        """Reads the configuration; raises KeyError or ValueError if it needs other steps."""
        if not config.get("do_resize", True) or config.get("do_pad", False):
            raise ValueError("the layout model's images must be resized, and not padded")
        normalised = config.get("do_normalize", False)
        return cls(
            width=int(config["size"]["width"]),
            height=int(config["size"]["height"]),
            resample=Image.Resampling(config.get("resample", Image.Resampling.BILINEAR)),
            factor=float(config.get("rescale_factor", 1 / 255)) if config.get("do_rescale", True) else 1.0,
            mean=tuple(config["image_mean"]) if normalised else None,
            deviation=tuple(config["image_std"]) if normalised else None,
        )

    def pixels(self, image: Image.Image) -> NDArray[np.float32]:
        """Returns an array of shape (1, 3, height, width)."""
        resized = image.convert("RGB").resize((self.width, self.height), self.resample)
        values: NDArray[np.float32] = np.asarray(resized, np.float32) * np.float32(self.factor)
        if self.mean is not None and self.deviation is not None:
            values -= np.asarray(self.mean, np.float32)
            values /= np.asarray(self.deviation, np.float32)
        return np.ascontiguousarray(values.transpose(2, 0, 1)[None])


class HeronDetector:
    """The loaded model. Raises ValueError, KeyError or OSError if the folder does not contain Heron."""

    def __init__(self, folder: Path, threads: int) -> None:
        names = json.loads((folder / "config.json").read_text("utf-8"))["id2label"]
        self._labels = {int(number): DocItemLabel[name.upper().replace("-", "_")] for number, name in names.items()}
        self._preprocessing = Preprocessing.of(json.loads((folder / "preprocessor_config.json").read_text("utf-8")))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = str(folder / "model.onnx")
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def detect(self, image: Image.Image) -> list[Region]:
        """Returns the detected regions, with boxes in pixels of the image."""
        feeds = {
            "images": self._preprocessing.pixels(image),
            "orig_target_sizes": np.array([[image.width, image.height]], np.int64),
        }
        labels, boxes, scores = self._session.run(None, feeds)[:3]
        return [
            Region(self._labels[int(label)], Box(*(float(side) for side in box)), float(score))
            for label, box, score in zip(labels[0], boxes[0], scores[0], strict=True)
            if score >= CONFIDENCE and int(label) in self._labels
        ]


class HeronLayoutModel(PageLayoutModel):
    """Docling's layout engine interface to the detector, which several engines may share one at a time."""

    def __init__(self, detector: HeronDetector) -> None:
        super().__init__()
        self._detector = detector

    def regions(self, page: Page, lines: Sequence[TextLine], body_height: float) -> list[Region]:  # noqa: ARG002  it sees the page alone
        size, image = page_size(page), page.get_image(scale=IMAGE_SCALE)
        if image is None:
            return []
        across, down = size.width / image.width, size.height / image.height
        found = [
            Region(each.label, Box(b.left * across, b.top * down, b.right * across, b.bottom * down), each.confidence)
            for each in self._detector.detect(image)
            for b in [each.box]
        ]
        if not lines:
            return scanned_regions(found, size.width, size.height)
        return [each for each in found if each.label is not DocItemLabel.PICTURE or not swallows_text(each, lines)]
