"""How long the conversion of a file may take: by its size, and by what its first bytes say that it is."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from ingestion.conversion.detection import IMAGES, OLE, ZIP
from ingestion.conversion.values import Limits

HEAD_BYTES = 1024
# What any file may take: where ten times as much runs as there are cores, a small one takes a minute.
LEAST_SECONDS = 120.0
# Seconds for each KiB beside that. Text takes 0.05 while all services share two cores (docs/figures.md, the first
# synchronisation). A page of a PDF file may have one KiB and takes up to a second to lay out and to recognise. Office
# files are compressed some ten times.
RENDERED, PACKED, TEXT = 3.0, 0.5, 0.2


def limits_for(source: Path, limits: Limits) -> Limits:
    """Returns the limits with the file's own time, in whole seconds; `limits.seconds` is the most that any may take."""
    with source.open("rb") as file:
        head = file.read(HEAD_BYTES)
    seconds = math.ceil(LEAST_SECONDS + _seconds_a_kib(head) * source.stat().st_size / 1024)
    return replace(limits, seconds=min(limits.seconds, seconds))


def _seconds_a_kib(head: bytes) -> float:
    if b"%PDF-" in head or head.startswith((*IMAGES, b"BM")) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return RENDERED
    return PACKED if head.startswith((*ZIP, OLE, b"{\\rtf")) else TEXT
