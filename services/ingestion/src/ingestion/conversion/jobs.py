"""What a worker and its conversion processes tell each other: JSON, which cannot make the other side run code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Self

from pydantic import TypeAdapter

from ingestion.conversion.values import ChunkOptions, Converted, Limits, PdfOptions, Recycling

CONVERTED = TypeAdapter(Converted)


@dataclass(frozen=True, slots=True)
class Setup:
    """What all conversions of a process have in common. `threads` is how many their models use."""

    threads: int = 2
    chunking: ChunkOptions = field(default_factory=ChunkOptions)
    pdf: PdfOptions = field(default_factory=PdfOptions)
    recycling: Recycling = field(default_factory=Recycling)


@dataclass(frozen=True, slots=True)
class Job:
    """One file. `source` and `output` are paths, `document_id` is a UUID."""

    source: str
    file_name: str
    document_id: str
    output: str
    limits: Limits

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, data: bytes) -> Self:
        fields = json.loads(data)
        return cls(**{**fields, "limits": Limits(**fields["limits"])})
