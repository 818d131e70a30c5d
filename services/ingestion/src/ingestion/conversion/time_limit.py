"""Sets the time limit of a conversion by the file's size and by the format that its first bytes suggest."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from ingestion.conversion.detection import IMAGES, OLE, ZIP
from ingestion.conversion.values import Limits

HEAD_BYTES = 1024
# For any file: on a machine with ten times more work than cores, a small file takes a minute.
LEAST_SECONDS = 120.0
# Additional seconds per KiB. Text takes 0.05 while all services share two cores (docs/figures.md, the first
# synchronisation). A page of a PDF file may have only one KiB, and its layout and recognition take up to a second.
# Office files are compressed about tenfold.
RENDERED, PACKED, TEXT = 3.0, 0.5, 0.2


def limits_for(source: Path, limits: Limits) -> Limits:
    """Returns the limits with the file's own `seconds`, rounded up; the given `limits.seconds` is the maximum."""
    with source.open("rb") as file:
        head = file.read(HEAD_BYTES)
    seconds = math.ceil(LEAST_SECONDS + _seconds_a_kib(head) * source.stat().st_size / 1024)
    return replace(limits, seconds=min(limits.seconds, seconds))


def _seconds_a_kib(head: bytes) -> float:
    if b"%PDF-" in head or head.startswith((*IMAGES, b"BM")) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return RENDERED
    return PACKED if head.startswith((*ZIP, OLE, b"{\\rtf")) else TEXT
