"""Messages between a worker and its conversion processes, in JSON, which cannot make the receiver run code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self
from uuid import UUID

from pydantic import TypeAdapter

from ingestion.conversion.values import ChunkOptions, Converted, Limits, PdfOptions, Recycling

CONVERTED = TypeAdapter(Converted)
OUTPUTS = ("document.md", "chunks.jsonl")
PIECE_BYTES = 1 << 18  # size of the pieces in which an output is sent
LONGEST_MESSAGE = 1 << 22  # bytes


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of a conversion process. `threads` is how many its models use."""

    threads: int = 2
    chunking: ChunkOptions = field(default_factory=ChunkOptions)
    pdf: PdfOptions = field(default_factory=PdfOptions)
    recycling: Recycling = field(default_factory=Recycling)

    @property
    def files(self) -> list[Path]:
        """The files and folders that conversions read in addition to the document."""
        return [path for path in (self.chunking.tokenizer, self.pdf.artifacts) if path is not None]


SETUP = TypeAdapter(Setup)


@dataclass(frozen=True, slots=True)
class Job:
    """The conversion of one file: the worker opens `source` and writes to the folder `output`."""

    source: Path
    file_name: str
    document_id: UUID
    output: Path
    limits: Limits


@dataclass(frozen=True, slots=True)
class Assignment:
    """The part of a job that is sent to the process, followed by the open file."""

    file_name: str
    document_id: str
    limits: Limits

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls(job.file_name, str(job.document_id), job.limits)

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, data: bytes) -> Self:
        fields = json.loads(data)
        return cls(**{**fields, "limits": Limits(**fields["limits"])})
