"""One file to a structured document and passages.

`Converter` is what a caller needs; importing this package does not import docling.
"""

from ingestion.conversion.converter import Converter
from ingestion.conversion.embedding_text import embedding_text
from ingestion.conversion.errors import (
    ConversionError,
    CorruptFile,
    EmptyDocument,
    InputTooLarge,
    MemoryLimitExceeded,
    PageLimitExceeded,
    PasswordProtected,
    TimeLimitExceeded,
    UnsupportedFormat,
    WorkerDied,
)
from ingestion.conversion.values import Converted, Limits, Progress

__all__ = [
    "ConversionError",
    "Converted",
    "Converter",
    "CorruptFile",
    "EmptyDocument",
    "InputTooLarge",
    "Limits",
    "MemoryLimitExceeded",
    "PageLimitExceeded",
    "PasswordProtected",
    "Progress",
    "TimeLimitExceeded",
    "UnsupportedFormat",
    "WorkerDied",
    "embedding_text",
]
