"""Writes the content of an item to a file, hashes it meanwhile, and stops at the size limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingestion.sources.source import ItemRefused
from service_kit.spool import Spool

MEBIBYTE = 1024 * 1024


class SourceSpool(Spool):
    def write(self, data: bytes) -> None:
        """Appends data; raises ItemRefused beyond the limit."""
        super().write(data)
        if self.is_too_large:
            raise too_large(self.max_bytes)


@contextmanager
def spooling(target: Path, max_bytes: int) -> Iterator[SourceSpool]:
    """Truncates the target and yields a spool on it. Writes block, so large ones belong in a thread."""
    with target.open("wb") as file:
        yield SourceSpool(target, file, max_bytes)


def too_large(max_bytes: int) -> ItemRefused:
    return ItemRefused("too-large", f"The file is larger than {max_bytes / MEBIBYTE:.0f} MiB.")
