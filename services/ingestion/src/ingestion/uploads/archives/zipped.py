"""Reads ZIP archives."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from ingestion.documents.refusals import Refused
from ingestion.uploads.archives.limits import ArchiveRefused, Budget, Damaged
from ingestion.uploads.archives.members import MemberDamaged, UnpackedMember
from ingestion.uploads.archives.naming import member_path, refusal

DIRECTORY_BYTES = 4 * 1024 * 1024
END, END_LENGTH, LONGEST_COMMENT = b"PK\x05\x06", 22, 65_535
ENCRYPTED = 0x1
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, ValueError)
# Not LZMA, which may need gigabytes of memory to expand a few bytes.
READABLE = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2})


def zip_members(archive: BinaryIO, budget: Budget) -> Iterator[UnpackedMember]:
    """Yields each member; its content can be read until the next one is requested. Raises ArchiveRefused."""
    _check_directory(archive)
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                if info.is_dir():
                    continue
                budget.spend_file()
                path = member_path(info.filename)
                if isinstance(path, Refused):
                    yield UnpackedMember(info.filename, path)
                elif refused := _refusal(info, path):
                    yield UnpackedMember(path, refused)
                else:
                    yield from _content(opened, info, path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise Damaged from error


def _check_directory(archive: BinaryIO) -> None:
    """Limits the size of the central directory, which is read at once (APPNOTE 4.3.16)."""
    size = archive.seek(0, os.SEEK_END)
    archive.seek(max(size - END_LENGTH - LONGEST_COMMENT, 0))
    tail = archive.read()
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


def _content(opened: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> Iterator[UnpackedMember]:
    try:
        body = opened.open(info)
    except DAMAGES:
        yield UnpackedMember(path, MemberDamaged.REFUSAL)
        return

    def read(size: int) -> bytes:
        try:
            return body.read(size)
        except DAMAGES as error:
            raise MemberDamaged from error

    with body:
        yield UnpackedMember(path, read)
