"""What goes into a conversion and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` of wall clock, `memory_bytes` resident in the conversion's process, `pages`, slides or sheets."""

    seconds: float
    memory_bytes: int
    pages: int
    input_bytes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`page` counts the pages done, of `pages`; both are None where a format has no pages."""

    stage: Literal["convert", "chunk"]
    page: int | None = None
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Converted:
    """`characters` counts the Markdown export; `engine` names what read the file, such as `docling/rapid-layout`."""

    pages: int | None
    title: str | None
    chunks: int
    characters: int
    engine: str
