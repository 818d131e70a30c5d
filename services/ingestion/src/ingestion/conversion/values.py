"""What goes into a conversion and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

PdfEngine = Literal["bundled", "heron", "docling"]

DEFAULT_CHUNK_TOKENS = 256
SMALLEST_CHUNK_TOKENS = 32
MOST_HEADINGS = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` of wall clock, `memory_bytes` resident in the conversion's process, `pages`, slides or sheets."""

    seconds: float
    memory_bytes: int
    pages: int
    input_bytes: int

    @property
    def output_bytes(self) -> int:
        """What a conversion may write: its result is made in memory, so a larger one cannot be honest."""
        return self.memory_bytes


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How long a chunk may be, and how tokens are counted.

    `max_tokens` is the size of what is embedded: headings, content, and the model's special tokens. It may not exceed
    `model_tokens`, the most that the model reads. Where a text is split inside a section, each part repeats up to
    `overlap_tokens` from the end of the one before it; at most half of the size.

    `tokenizer` is the model's `tokenizer.json`, or None for the bundled model's. Where that is not the tokenizer of
    the model (`estimated`), counts are raised by a safety factor. Raises ValueError.
    """

    max_tokens: int = DEFAULT_CHUNK_TOKENS
    overlap_tokens: int = 0
    model_tokens: int = DEFAULT_CHUNK_TOKENS
    tokenizer: Path | None = None
    estimated: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens < SMALLEST_CHUNK_TOKENS:
            raise ValueError(f"CHUNK_TOKENS is {self.max_tokens}; it must be at least {SMALLEST_CHUNK_TOKENS}")
        if self.max_tokens > self.model_tokens:
            raise ValueError(
                f"CHUNK_TOKENS is {self.max_tokens}, but the embedding model reads no more than {self.model_tokens}"
            )
        if not 0 <= self.overlap_tokens <= self.max_tokens // 2:
            raise ValueError(
                f"CHUNK_OVERLAP_TOKENS is {self.overlap_tokens}; it must be between 0 and half of CHUNK_TOKENS "
                f"({self.max_tokens})"
            )


@dataclass(frozen=True, slots=True)
class PdfOptions:
    """The layout engine of PDF files and images.

    None chooses `heron` when the folder `artifacts` holds its model, else `bundled`. `ingestion.conversion.engines`
    says whether an engine can run here.
    """

    engine: PdfEngine | None = None
    artifacts: Path | None = None


@dataclass(frozen=True, slots=True)
class Recycling:
    """When a conversion's process is not used again.

    After so many conversions, when it holds more than `memory_bytes` after one, or when it had nothing to do for
    `idle_seconds`. A process whose conversion failed is never used again. 1 conversion: a process for each file.
    """

    conversions: int = 50
    memory_bytes: int = 1 << 30
    idle_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.conversions < 1:
            raise ValueError(f"CONVERSIONS_PER_PROCESS is {self.conversions}; it must be at least 1")


@dataclass(frozen=True, slots=True)
class ConversionProgress:
    """`page` counts the pages done, of `pages`; both are None where a format has no pages."""

    stage: Literal["convert", "chunk"]
    page: int | None = None
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Converted:
    """`characters` counts the Markdown export; `engine` names what read the file, such as `docling/rapid-layout`.

    `headings` are the document's first 200, in order. `tags` keep their case and are different without it.
    `language` is an ISO 639-1 code, None where it could not be told. Times carry a zone.
    """

    pages: int | None
    title: str | None
    chunks: int
    characters: int
    engine: str
    headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str | None = None
    authors: tuple[str, ...] = ()
    written_at: datetime | None = None
    modified_at: datetime | None = None
