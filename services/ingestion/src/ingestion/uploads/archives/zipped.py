"""ZIP archives."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from ingestion.documents.incoming_files import IncomingFile, Refused
from ingestion.uploads.archives.limits import ArchiveRefused, Damaged
from ingestion.uploads.archives.naming import member_path, refusal
from ingestion.uploads.archives.spool import MemberSpool

DIRECTORY_BYTES = 4 * 1024 * 1024
END, END_LENGTH, LONGEST_COMMENT = b"PK\x05\x06", 22, 65_535
ENCRYPTED = 0x1
# LZMA may ask for gigabytes to expand a few bytes.
READABLE = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})


def zip_members(archive: Path, spool: MemberSpool) -> Iterator[tuple[str, IncomingFile | Refused]]:
    """Yields (path, file) of each member; raises ArchiveRefused."""
    _check_directory(archive)
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                if info.is_dir():
                    continue
                spool.budget.spend_file()
                path = member_path(info.filename)
                if isinstance(path, Refused):
                    yield info.filename, path
                else:
                    yield path, _refusal(info, path) or _expanded(opened, info, path, spool)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise Damaged from error


def _check_directory(archive: Path) -> None:
    """Limits the size of the list of members, which is read at once (APPNOTE 4.3.16)."""
    size = archive.stat().st_size
    with archive.open("rb") as file:
        file.seek(max(size - END_LENGTH - LONGEST_COMMENT, 0))
        tail = file.read()
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_LENGTH:
        raise Damaged
    if tail.rfind(b"PK\x06\x07", 0, at) >= 0 or struct.unpack_from("<L", tail, at + 12)[0] > DIRECTORY_BYTES:
        raise ArchiveRefused("archive-too-large", "the archive lists more files than are accepted")


def _refusal(info: zipfile.ZipInfo, path: str) -> Refused | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        return Refused("not-a-file", "it is a link or a device, not a file")
    if info.flag_bits & ENCRYPTED:
        return Refused("encrypted", "it is encrypted")
    if info.compress_type not in READABLE:
        return Refused("unsupported-compression", "it is compressed by a method that is not supported")
    return refusal(path)


def _expanded(opened: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, spool: MemberSpool) -> IncomingFile | Refused:
    name = path.rsplit("/", 1)[-1]
    try:
        with opened.open(info) as body:
            return spool.fill(name, body.read)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError):
        return Refused("member-damaged", "it is damaged")
