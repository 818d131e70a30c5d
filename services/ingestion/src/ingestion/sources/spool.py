"""Writes what a source delivers to a file, hashes it on the way, and stops at the size limit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ingestion.sources.source import ItemRefused

MEBIBYTE = 1024 * 1024


class Spool:
    """The file being written; `content_hash` (SHA-256, hex) and `size` are of what was written until now."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self.file, self.max_bytes = file, max_bytes
        self.size, self.digest = 0, hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Raises ItemRefused beyond the limit."""
        self.size += len(data)
        if self.size > self.max_bytes:
            raise too_large(self.max_bytes)
        self.digest.update(data)
        self.file.write(data)

    @property
    def content_hash(self) -> str:
        return self.digest.hexdigest()


@contextmanager
def spooling(target: Path, max_bytes: int) -> Iterator[Spool]:
    """The target, emptied. Blocking: large writes belong in a thread."""
    with target.open("wb") as file:
        yield Spool(file, max_bytes)


def too_large(max_bytes: int) -> ItemRefused:
    return ItemRefused("too-large", f"The file is larger than {max_bytes / MEBIBYTE:.0f} MiB.")
