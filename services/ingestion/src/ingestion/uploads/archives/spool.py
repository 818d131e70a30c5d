"""The file on disk that an archive's members are expanded into, one after the other."""

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
    """Takes one member after the other; of one beyond the size limit only the size is kept."""

    spool: Spool
    budget: Budget

    def restart(self) -> None:
        self.spool.restart()

    def write(self, data: bytes) -> None:
        """Raises ArchiveRefused and StorageFull."""
        self.budget.spend(len(data))
        with _storage():
            self.spool.write(data)

    def taken(self, name: str) -> IncomingFile:
        """Returns what was written since the last restart. Raises StorageFull."""
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
    """Yields a spool on a temporary file that is deleted at the end."""
    with temporary_spool(folder, "member-", budget.limits.file_bytes) as spool:
        yield MemberSpool(spool, budget)
