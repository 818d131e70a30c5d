"""Expands an archive on disk into a stream of files, in a walled process and off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from contracts.formats import has_extension, is_archive
from ingestion.documents.incoming_files import IncomingFile
from ingestion.documents.refusals import Refused
from ingestion.uploads.archives.incoming import Incoming
from ingestion.uploads.archives.limits import ArchiveLimits, ArchiveRefused, Budget
from ingestion.uploads.archives.protocol import ArchiveAssignment
from ingestion.uploads.archives.spool import member_spool
from ingestion.uploads.archives.tarred import BZIP2, GZIP, XZ
from service_kit.problems import Unavailable
from service_kit.sandbox import Sandbox, SandboxConfig, SandboxedProcess, SandboxUnavailable

ArchiveKind = Literal["zip", "tar"]
TASK, PRELOAD = "ingestion.uploads.archives.child:serve", "ingestion.uploads.archives.child"
# Office documents are ZIP archives whose first member is one of these.
OFFICE_PARTS = (b"[Content_Types].xml", b"mimetype", b"_rels/", b"word/", b"xl/", b"ppt/")
LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class SpooledMember:
    """A member, or its refusal. `path` is within the archive, empty if the rest of the archive is rejected."""

    path: str
    content: IncomingFile | Refused


def archive_kind(name: str, head: bytes) -> ArchiveKind | None:
    """Returns the kind by extension and first bytes, without an extension by the bytes only; None for other files."""
    if has_extension(name) and not is_archive(name):
        return None
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None if head[LOCAL_HEADER_BYTES:].startswith(OFFICE_PARTS) else "zip"
    if head[257:262] == b"ustar" or head.startswith((GZIP, BZIP2, XZ)):
        return "tar"
    if is_archive(name):
        return "zip" if name.lower().endswith(".zip") else "tar"  # damaged; the reader will refuse it
    return None


class Expander:
    """Expands archives in walled processes, so that flaws in archive readers cannot reach this process.

    The fork server starts with the first archive.
    """

    def __init__(self, limits: ArchiveLimits, folder: Path, listener: Path | None = None) -> None:
        """`folder` holds one expanded file of each archive in progress; `listener` is a converter's socket, if any."""
        self._limits, self._folder = limits, folder
        self._sandbox = Sandbox(SandboxConfig(TASK, PRELOAD, folder=str(folder)), listener)

    def close(self) -> None:
        """Kills running processes; their callers get a refusal saying that the archive could not be read."""
        self._sandbox.close()

    async def expanded(self, archive: Path, kind: ArchiveKind) -> AsyncGenerator[SpooledMember]:
        """Yields each file of the archive; it stays on disk until the next one is requested.

        Rejected files carry a reason, and so does the rest of an archive that is damaged or exceeds the limits.
        Raises StorageFull, and Unavailable if no process can be started.
        """
        members = self._members(archive, kind)
        turn = threading.Lock()  # a thread may still be running when the caller is cancelled

        def step() -> SpooledMember | None:
            with turn:
                return next(members, None)

        def close() -> None:
            with turn:
                members.close()

        try:
            while member := await asyncio.to_thread(step):
                yield member
        finally:
            await asyncio.to_thread(close)

    def _members(self, archive: Path, kind: ArchiveKind) -> Generator[SpooledMember, None, None]:
        budget = Budget(self._limits, archive.stat().st_size)
        with member_spool(self._folder, budget) as spool, self._process() as process:
            try:
                with archive.open("rb") as opened:
                    process.send(ArchiveAssignment(kind, asdict(self._limits)).written())
                    process.send_file(opened.fileno())
                for path, content in Incoming(process, spool).members():
                    yield SpooledMember(path, content)
            except ArchiveRefused as refused:
                yield SpooledMember("", Refused(refused.error, refused.message))

    @contextmanager
    def _process(self) -> Iterator[SandboxedProcess]:
        try:
            process = self._sandbox.start()
        except SandboxUnavailable as error:
            raise Unavailable("no process could be started to take the archive apart") from error
        try:
            yield process
        finally:
            process.end()
