"""Reads tar archives, plain or compressed, as a stream."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from io import RawIOBase
from typing import BinaryIO, Protocol

from ingestion.documents.refusals import Refused
from ingestion.uploads.archives.limits import PIECE_BYTES, ArchiveRefused, Budget, Damaged
from ingestion.uploads.archives.members import UnpackedMember
from ingestion.uploads.archives.naming import member_path, refusal

# Before 3.11.10 and 3.12.6, Python takes time quadratic in the length of a header (CVE-2024-6232).
HEADER_BYTES = 64 * 1024
XZ_MEMORY_BYTES = 128 * 1024 * 1024
GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Unpacked(RawIOBase):
    """Counts the bytes of the tar. Headers are limited to HEADER_BYTES, because tarfile holds them in memory."""

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
    """An LZMAFile with a memory limit."""

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


def tar_members(archive: BinaryIO, budget: Budget) -> Iterator[UnpackedMember]:
    """Yields each member; its content can be read until the next one is requested. Raises ArchiveRefused."""
    stream = _Unpacked(_decompressed(archive), budget)
    try:
        with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as opened:
            while member := opened.next():
                stream.header_left = None
                budget.spend_file()  # folders too, because tarfile keeps all members in memory
                body = _body(opened, member)
                if not member.isdir():
                    yield _member(member, body)
                while rest := body(PIECE_BYTES):  # reads up to the next header
                    budget.spend(len(rest))
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


def _member(member: tarfile.TarInfo, body: Callable[[int], bytes]) -> UnpackedMember:
    path = member_path(member.name)
    if isinstance(path, Refused):
        return UnpackedMember(member.name, path)
    if not member.isreg() or member.issparse():
        return UnpackedMember(path, Refused("not-a-file", "it is a link or a device, not a file"))
    return UnpackedMember(path, refusal(path) or body)


def _body(opened: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[int], bytes]:
    file = opened.extractfile(member) if member.isreg() and not member.issparse() else None
    return file.read if file else lambda _: b""
