"""A file that receives a body of unknown size: its size, SHA-256 and first bytes are known when it is complete."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

HEAD_BYTES = 8192
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_disk_full(error: OSError) -> bool:
    """Returns whether the disk, or the user's quota on it, has no space left."""
    return error.errno in FULL


class Spool:
    """The file at `path`. Beyond `max_bytes` nothing is stored, but `size` still grows. Blocking."""

    def __init__(self, path: Path, file: BinaryIO, max_bytes: int) -> None:
        self.path, self.file, self.max_bytes = path, file, max_bytes
        self.size, self.head, self.digest = 0, b"", hashlib.sha256()

    @property
    def content_hash(self) -> str:
        """The SHA-256 of what was written, in hexadecimal."""
        return self.digest.hexdigest()

    @property
    def is_too_large(self) -> bool:
        return self.size > self.max_bytes

    def restart(self) -> None:
        """Empties the file for the next body."""
        self.file.seek(0)
        self.file.truncate()
        self.size, self.head, self.digest = 0, b"", hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Raises OSError; `is_disk_full` says whether the disk is full."""
        self.size += len(data)
        if self.is_too_large:
            return
        self.head += data[: max(HEAD_BYTES - len(self.head), 0)]
        self.digest.update(data)
        self.file.write(data)

    def flush(self) -> None:
        """Makes the body readable at `path`. Raises OSError, as `write` does."""
        self.file.flush()


@contextmanager
def temporary_spool(folder: Path, prefix: str, max_bytes: int) -> Iterator[Spool]:
    """Yields a spool on a new file in `folder`, and deletes it at the end."""
    descriptor, name = tempfile.mkstemp(prefix=prefix, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield Spool(Path(name), file, max_bytes)
    finally:
        os.unlink(name)
