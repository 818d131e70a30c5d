"""The options and results of conversions."""

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
    """Wall-clock `seconds`, resident `memory_bytes` of the conversion process, `pages` (or slides or sheets)."""

    seconds: float
    memory_bytes: int
    pages: int
    input_bytes: int

    @property
    def output_bytes(self) -> int:
        """The most bytes that a conversion may write; results are built in memory, so no honest one is larger."""
        return self.memory_bytes


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """The size of chunks, and how tokens are counted. Raises ValueError.

    `max_tokens` bounds the embedded text: headings, content, and the model's special tokens. It may not exceed
    `model_tokens`, the most that the model reads. Where a text is split inside a section, each part repeats up to
    `overlap_tokens` from the end of the previous one; at most half of `max_tokens`.

    `tokenizer` is the model's `tokenizer.json`, or None for that of the bundled model. If it is not the tokenizer of
    the embedding model (`estimated`), counts include a safety factor.
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

    None selects `heron` if the folder `artifacts` contains its model, else `bundled`. `ingestion.conversion.engines`
    checks whether an engine can run.
    """

    engine: PdfEngine | None = None
    artifacts: Path | None = None


@dataclass(frozen=True, slots=True)
class Recycling:
    """The limits after which a conversion process is replaced.

    After this many `conversions` (1 means a process per file), when it holds more than `memory_bytes` after one, or
    after `idle_seconds` without work. A process whose conversion failed is always replaced.
    """

    conversions: int = 50
    memory_bytes: int = 1 << 30
    idle_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.conversions < 1:
            raise ValueError(f"CONVERSIONS_PER_PROCESS is {self.conversions}; it must be at least 1")


@dataclass(frozen=True, slots=True)
class ConversionProgress:
    """`page` of `pages` are done; both are None if the format has no pages."""

    stage: Literal["convert", "chunk"]
    page: int | None = None
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Converted:
    """`characters` is the length of the Markdown; `engine` names the reader, such as `docling/rapid-layout`.

    `headings` are the first 200, in order. `tags` keep their case and are unique without regard to it. `language` is an
    ISO 639-1 code, None if it is unknown. Times have a time zone.
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
