"""The file on disk into which the members of an archive are expanded, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingestion.documents.incoming_files import IncomingFile
from ingestion.uploads.archives.limits import Budget
from ingestion.uploads.errors import StorageFull
from service_kit.spool import Spool, is_disk_full, temporary_spool


@dataclass
class MemberSpool:
    """Stores one member at a time; for a member beyond the size limit it only keeps the size."""

    spool: Spool
    budget: Budget

    def restart(self) -> None:
        self.spool.restart()

    def write(self, data: bytes) -> None:
        """Appends to the current member. Raises ArchiveRefused and StorageFull."""
        self.budget.spend(len(data))
        with _storage():
            self.spool.write(data)

    def taken(self, name: str) -> IncomingFile:
        """Returns the file written since the last restart. Raises StorageFull."""
        with _storage():
            self.spool.flush()
        return IncomingFile(self.spool.path, name, self.spool.size, self.spool.content_hash, self.spool.head)


@contextmanager
def _storage() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise StorageFull from error
        raise


@contextmanager
def member_spool(folder: Path, budget: Budget) -> Iterator[MemberSpool]:
    """Yields a spool on a temporary file that is deleted on exit."""
    with temporary_spool(folder, "member-", budget.limits.file_bytes) as spool:
        yield MemberSpool(spool, budget)
