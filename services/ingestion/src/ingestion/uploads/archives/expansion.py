"""Expands an archive on disk into a stream of files, off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from contracts.formats import has_extension, is_archive
from ingestion.documents.incoming_files import IncomingFile, Refused
from ingestion.uploads.archives.limits import ArchiveLimits, ArchiveRefused, Budget
from ingestion.uploads.archives.spool import MemberSpool, member_spool
from ingestion.uploads.archives.tarred import BZIP2, GZIP, XZ, tar_members
from ingestion.uploads.archives.zipped import zip_members

ArchiveKind = Literal["zip", "tar"]
Reader = Callable[[Path, MemberSpool], Iterator[tuple[str, IncomingFile | Refused]]]
READERS: dict[ArchiveKind, Reader] = {"zip": zip_members, "tar": tar_members}
# Office documents are ZIP archives, too; one of these is their first member.
OFFICE_PARTS = (b"[Content_Types].xml", b"mimetype", b"_rels/", b"word/", b"xl/", b"ppt/")
LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class ArchiveMember:
    """`path` is within the archive; it is empty when the rest of the archive is rejected."""

    path: str
    content: IncomingFile | Refused


def archive_kind(name: str, head: bytes) -> ArchiveKind | None:
    """Returns the kind by extension and first bytes; without an extension by the bytes alone."""
    if has_extension(name) and not is_archive(name):
        return None
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None if head[LOCAL_HEADER_BYTES:].startswith(OFFICE_PARTS) else "zip"
    if head[257:262] == b"ustar" or head.startswith((GZIP, BZIP2, XZ)):
        return "tar"
    if is_archive(name):
        return "zip" if name.lower().endswith(".zip") else "tar"  # damaged, and refused as such
    return None


async def expanded(
    archive: Path, kind: ArchiveKind, limits: ArchiveLimits, folder: Path
) -> AsyncGenerator[ArchiveMember]:
    """Yields each file of the archive; it stays in `folder` until the next one is asked for.

    Rejected files come with the reason, as does the rest of an archive that is damaged or exceeds the limits. Raises
    StorageFull.
    """
    members = _members(archive, kind, limits, folder)
    turn = threading.Lock()  # the thread is still running when the caller is cancelled

    def step() -> ArchiveMember | None:
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


def _members(
    archive: Path, kind: ArchiveKind, limits: ArchiveLimits, folder: Path
) -> Generator[ArchiveMember, None, None]:
    budget = Budget(limits, archive.stat().st_size)
    with member_spool(folder, budget) as spool:
        try:
            for path, content in READERS[kind](archive, spool):
                yield ArchiveMember(path, content)
        except ArchiveRefused as refused:
            yield ArchiveMember("", Refused(refused.error, refused.message))
