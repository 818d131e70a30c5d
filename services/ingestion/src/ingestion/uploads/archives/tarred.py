"""Tar archives, plain or compressed, as a stream."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, Protocol

from ingestion.documents.incoming_files import IncomingFile, Refused
from ingestion.uploads.archives.limits import ArchiveRefused, Budget, Damaged
from ingestion.uploads.archives.naming import member_path, refusal
from ingestion.uploads.archives.spool import PIECE_BYTES, MemberSpool

HEADER_BYTES = 1024 * 1024
XZ_MEMORY_BYTES = 128 * 1024 * 1024
GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Unpacked(RawIOBase):
    """Counts the bytes of the tar. A header is limited to HEADER_BYTES, as its reader holds all of it in memory."""

    def __init__(self, source: _Readable, budget: Budget) -> None:
        self.source, self.budget = source, budget
        self.header_left: int | None = HEADER_BYTES

    def read(self, size: int = -1) -> bytes:
        try:
            data = self.source.read(PIECE_BYTES if size < 0 else size)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise Damaged from error
        if self.header_left is not None:
            self.header_left -= len(data)
            if self.header_left < 0:
                raise ArchiveRefused("archive-too-large", "the archive has a header that is too long")
            self.budget.spend(len(data))
        return data


class _Xz:
    """Like LZMAFile, with a memory limit."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)

    def read(self, size: int, /) -> bytes:
        while not self.decompressor.eof:
            data = self.file.read(PIECE_BYTES) if self.decompressor.needs_input else b""
            if self.decompressor.needs_input and not data:
                raise EOFError
            if unpacked := self.decompressor.decompress(data, size):
                return unpacked
        return b""


def tar_members(archive: Path, spool: MemberSpool) -> Iterator[tuple[str, IncomingFile | Refused]]:
    """Yields (path, file) of each member; raises ArchiveRefused."""
    with archive.open("rb") as file:
        stream = _Unpacked(_decompressed(file), spool.budget)
        try:
            with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as opened:
                while member := opened.next():
                    stream.header_left = None
                    spool.budget.spend_file()  # folders too: the reader remembers them all
                    if not member.isdir():
                        yield _member(opened, member, spool)
                    stream.header_left = HEADER_BYTES
        except (tarfile.TarError, ValueError) as error:
            raise Damaged from error


def _decompressed(file: BinaryIO) -> _Readable:
    magic = file.read(6)
    file.seek(0)
    if magic.startswith(GZIP):
        return gzip.GzipFile(fileobj=file)
    if magic.startswith(BZIP2):
        return bz2.BZ2File(file)
    return _Xz(file) if magic.startswith(XZ) else file


def _member(opened: tarfile.TarFile, member: tarfile.TarInfo, spool: MemberSpool) -> tuple[str, IncomingFile | Refused]:
    path = member_path(member.name)
    if isinstance(path, Refused):
        found: Refused | None = path
        path = member.name
    elif not member.isreg() or member.issparse():
        found = Refused("not-a-file", "it is a link or a device, not a file")
    else:
        found = refusal(path)
    if found is None:
        body = opened.extractfile(member)
        assert body is not None
        return path, spool.fill(path.rsplit("/", 1)[-1], body.read)
    _skip(opened, member, spool)
    return path, found


def _skip(opened: tarfile.TarFile, member: tarfile.TarInfo, spool: MemberSpool) -> None:
    """Reads a rejected member to its end, so that the next header follows."""
    if member.isreg() and not member.issparse():
        body = opened.extractfile(member)
        while body and (piece := body.read(PIECE_BYTES)):
            spool.budget.spend(len(piece))
