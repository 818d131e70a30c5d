"""The limits of one export, and what its process reports. Imports nothing, because the process loads it, too."""

from __future__ import annotations

from dataclasses import dataclass

TOO_LARGE, FAILED, MISSING = "too-large", "failed", "missing"


@dataclass(frozen=True)
class ExportLimits:
    """`source_bytes` limits the text to export, `output_bytes` the resulting file."""

    seconds: float = 30.0
    memory_bytes: int = 768 << 20
    source_bytes: int = 4 << 20
    output_bytes: int = 64 << 20
