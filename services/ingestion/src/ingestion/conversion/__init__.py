"""Converts a file to a structured document, Markdown and chunks.

Callers use `Converter`. Importing this package does not import docling.
"""

from contracts.ingestion import embedding_text
from ingestion.conversion.converter import Converter
from ingestion.conversion.engines import EngineUnavailable
from ingestion.conversion.errors import (
    ConversionError,
    CorruptFile,
    DiskFull,
    EmptyDocument,
    InputTooLarge,
    MemoryLimitExceeded,
    PageLimitExceeded,
    PasswordProtected,
    TimeLimitExceeded,
    UnsupportedFormat,
    WorkerDied,
)
from ingestion.conversion.jobs import Setup
from ingestion.conversion.values import (
    ChunkOptions,
    ConversionProgress,
    Converted,
    Limits,
    PdfEngine,
    PdfOptions,
    Recycling,
)

__all__ = [
    "ChunkOptions",
    "ConversionError",
    "ConversionProgress",
    "Converted",
    "Converter",
    "CorruptFile",
    "DiskFull",
    "EmptyDocument",
    "EngineUnavailable",
    "InputTooLarge",
    "Limits",
    "MemoryLimitExceeded",
    "PageLimitExceeded",
    "PasswordProtected",
    "PdfEngine",
    "PdfOptions",
    "Recycling",
    "Setup",
    "TimeLimitExceeded",
    "UnsupportedFormat",
    "WorkerDied",
    "embedding_text",
]
