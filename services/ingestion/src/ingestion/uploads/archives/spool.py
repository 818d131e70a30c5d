"""The file on disk that an archive's members are expanded into, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingestion.documents.incoming_files import IncomingFile
from ingestion.uploads.archives.limits import Budget
from ingestion.uploads.errors import StorageFull
from service_kit.spool import Spool, is_disk_full, temporary_spool

PIECE_BYTES = 256 * 1024


@dataclass
class MemberSpool:
    spool: Spool
    budget: Budget

    def fill(self, name: str, read: Callable[[int], bytes]) -> IncomingFile:
        """Reads a whole member; of one beyond the size limit only the size is kept.

        Raises ArchiveRefused and StorageFull.
        """
        spool = self.spool
        spool.restart()
        while piece := read(PIECE_BYTES):
            self.budget.spend(len(piece))
            self._write(piece)
        self._write(b"")
        return IncomingFile(spool.path, name, spool.size, spool.content_hash, spool.head)

    def _write(self, data: bytes) -> None:
        try:
            self.spool.write(data)
            if not data:
                self.spool.flush()
        except OSError as error:
            if is_disk_full(error):
                raise StorageFull from error
            raise


@contextmanager
def member_spool(folder: Path, budget: Budget) -> Iterator[MemberSpool]:
    """Yields a spool on a temporary file that is deleted at the end."""
    with temporary_spool(folder, "member-", budget.limits.file_bytes) as spool:
        yield MemberSpool(spool, budget)
