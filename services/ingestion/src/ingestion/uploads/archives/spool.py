"""The file on disk that members are expanded into, one after the other."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ingestion.documents.errors import StorageFull
from ingestion.documents.incoming_files import HEAD_BYTES, IncomingFile
from ingestion.uploads.archives.limits import Budget

PIECE_BYTES = 256 * 1024


@dataclass
class Spool:
    path: Path
    file: BinaryIO
    budget: Budget

    def fill(self, name: str, read: Callable[[int], bytes]) -> IncomingFile:
        """All of a member; of one beyond the limit of a file only its size is true.

        Raises ArchiveRefused and StorageFull.
        """
        self.file.seek(0)
        self.file.truncate()
        digest, size, head = hashlib.sha256(), 0, b""
        while piece := read(PIECE_BYTES):
            self.budget.spend(len(piece))
            size += len(piece)
            if size > self.budget.limits.file_bytes:
                continue
            head += piece[: max(HEAD_BYTES - len(head), 0)]
            digest.update(piece)
            self._write(piece)
        self._write(b"")
        return IncomingFile(self.path, name, size, digest.hexdigest(), head)

    def _write(self, data: bytes) -> None:
        try:
            self.file.write(data)
            if not data:
                self.file.flush()
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise StorageFull from error
            raise


@contextmanager
def spooling(folder: Path, budget: Budget) -> Iterator[Spool]:
    """In a temporary file that is deleted at the end."""
    descriptor, name = tempfile.mkstemp(prefix="member-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield Spool(Path(name), file, budget)
    finally:
        os.unlink(name)
