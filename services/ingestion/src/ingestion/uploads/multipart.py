"""multipart/form-data (RFC 7578) as a stream: one file at a time lies on disk, whatever the size of the body."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from ingestion.documents.errors import BadMultipart, NotMultipart, StorageFull
from ingestion.documents.incoming_files import HEAD_BYTES

FLUSH_BYTES = 1024 * 1024
SLICE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Part:
    """The header of one part. `file_name` is None for a plain field."""

    field: str
    file_name: bytes | None


@dataclass(frozen=True)
class ReceivedFile:
    """A part's body. `head` is its beginning; beyond the size limit nothing is kept but `too_large`."""

    part: Part
    path: Path
    size: int
    content_hash: str
    head: bytes
    too_large: bool


async def received_files(
    content_type: str, stream: AsyncIterator[bytes], folder: Path, max_file_bytes: int
) -> AsyncGenerator[ReceivedFile]:
    """Each part as soon as it is complete; its file is deleted when the next one is asked for.

    Raises NotMultipart, BadMultipart (also when the body ends too early) and StorageFull.
    """
    parts = _Parts(content_type)
    async with _spooling(folder, max_file_bytes) as spool:
        async for received in _received(parts, stream, spool):
            yield received
    if not parts.ended:
        raise BadMultipart("the body ends before its closing boundary")


async def _received(parts: _Parts, stream: AsyncIterator[bytes], spool: _Spool) -> AsyncIterator[ReceivedFile]:
    async for data in _slices(stream):
        for event in parts.feed(data):
            match event:
                case Part():
                    spool.begin(event)
                case bytes():
                    await spool.write(event)
                case None:
                    yield await spool.end()


async def _slices(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for data in stream:
            for start in range(0, len(data), SLICE_BYTES):
                yield data[start : start + SLICE_BYTES]
    except ClientDisconnect as error:
        raise BadMultipart("the connection was closed before the body was complete") from error


class _Parts:
    """The parser's callbacks as a list of events: a Part, the bytes of its body, None at its end."""

    def __init__(self, content_type: str) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data":
            raise NotMultipart
        if not options.get(b"boundary"):
            raise BadMultipart("the header Content-Type has no boundary")
        self.events: list[Part | bytes | None] = []
        self.ended = False
        self.header, self.value, self.disposition = bytearray(), bytearray(), b""
        try:
            self.parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_part_begin": self._begin,
                    "on_header_field": lambda data, start, end: self.header.extend(data[start:end]),
                    "on_header_value": lambda data, start, end: self.value.extend(data[start:end]),
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._headers_finished,
                    "on_part_data": lambda data, start, end: self.events.append(data[start:end]),
                    "on_part_end": lambda: self.events.append(None),
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise BadMultipart(str(error)) from error

    def feed(self, data: bytes) -> list[Part | bytes | None]:
        self.events = []
        try:
            self.parser.write(data)
        except FormParserError as error:
            raise BadMultipart(str(error)) from error
        return self.events

    def _begin(self) -> None:
        self.header, self.value, self.disposition = bytearray(), bytearray(), b""

    def _header_end(self) -> None:
        if bytes(self.header).lower() == b"content-disposition":
            self.disposition = bytes(self.value)
        self.header, self.value = bytearray(), bytearray()

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self.disposition)
        if b"name" not in options:
            raise BadMultipart("a part has no Content-Disposition with a name")
        self.events.append(Part(options[b"name"].decode("utf-8", "replace"), options.get(b"filename")))

    def _end(self) -> None:
        self.ended = True


@dataclass
class _Spool:
    """Writes a part's body to the temporary file, and hashes it, off the event loop."""

    path: Path
    file: BinaryIO
    limit: int
    part: Part | None = None
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    size: int = 0
    head: bytes = b""
    pending: bytearray = field(default_factory=bytearray)

    def begin(self, part: Part) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.part, self.digest, self.size, self.head, self.pending = part, hashlib.sha256(), 0, b"", bytearray()

    async def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self.limit:
            self.pending.clear()
            return
        if len(self.head) < HEAD_BYTES:
            self.head += data[: HEAD_BYTES - len(self.head)]
        self.pending += data
        if len(self.pending) >= FLUSH_BYTES:
            await asyncio.to_thread(self._flush)

    async def end(self) -> ReceivedFile:
        assert self.part is not None
        await asyncio.to_thread(self._flush)
        return ReceivedFile(self.part, self.path, self.size, self.digest.hexdigest(), self.head, self.size > self.limit)

    def _flush(self) -> None:
        try:
            self.file.write(self.pending)
            self.file.flush()
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise StorageFull from error
            raise
        self.digest.update(self.pending)
        self.pending.clear()


@asynccontextmanager
async def _spooling(folder: Path, limit: int) -> AsyncIterator[_Spool]:
    descriptor, path = tempfile.mkstemp(prefix="upload-", dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        try:
            yield _Spool(Path(path), file, limit)
        finally:
            await asyncio.to_thread(os.unlink, path)
