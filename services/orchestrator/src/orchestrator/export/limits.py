"""What one export may take, and what its process says of itself. Imports nothing: the process loads it, too."""

from __future__ import annotations

from dataclasses import dataclass

PIECE_BYTES = 1 << 20
TOO_LARGE, FAILED, MISSING = "too-large", "failed", "missing"


@dataclass(frozen=True)
class ExportLimits:
    """`source_bytes` of the text that goes in, `output_bytes` of the file that comes out."""

    seconds: float = 30.0
    memory_bytes: int = 768 << 20
    source_bytes: int = 4 << 20
    output_bytes: int = 64 << 20
