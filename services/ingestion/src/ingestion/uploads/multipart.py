"""Reads multipart/form-data (RFC 7578) as a stream, with one file at a time on disk, for bodies of any size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from ingestion.documents.file_names import safe_name
from ingestion.documents.incoming_files import IncomingFile
from ingestion.uploads.errors import BadMultipart, NotMultipart, StorageFull
from service_kit.spool import Spool, is_disk_full, temporary_spool

FLUSH_BYTES = 1024 * 1024
SLICE_BYTES = 256 * 1024
MAX_BOUNDARY_CHARACTERS = 70  # RFC 2046


@dataclass(frozen=True)
class ReceivedFile:
    """One part. `has_name` is False for a plain field. For a file beyond the limit only the size is kept."""

    field: str
    has_name: bool
    file: IncomingFile


async def received_files(
    content_type: str, stream: AsyncIterator[bytes], folder: Path, max_file_bytes: int
) -> AsyncGenerator[ReceivedFile]:
    """Yields each part once it is complete; its file is deleted when the next one is requested.

    Raises NotMultipart, BadMultipart (also if the body ends too early) and StorageFull.
    """
    parser = _parser(content_type)
    with temporary_spool(folder, "upload-", max_file_bytes) as spool:
        segment: MultipartSegment | None = None
        pending = bytearray()
        async for data in _slices(stream):
            for event in _events(parser, data):
                if isinstance(event, MultipartSegment):
                    segment = event
                    spool.restart()
                elif event is not None:
                    pending += event
                    if len(pending) >= FLUSH_BYTES:
                        await asyncio.to_thread(_write, spool, pending)
                elif segment is not None:
                    await asyncio.to_thread(_write, spool, pending)
                    yield _received(segment, spool)
        list(_events(parser, b""))


def _parser(content_type: str) -> PushMultipartParser:
    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data":
        raise NotMultipart
    boundary = options.get("boundary", "")
    if not 0 < len(boundary) <= MAX_BOUNDARY_CHARACTERS:
        raise BadMultipart("the header Content-Type has no valid boundary")
    try:
        # Latin-1 preserves the bytes of file names that are not UTF-8.
        return PushMultipartParser(boundary, header_charset="latin-1")
    except (MultipartError, UnicodeError) as error:
        raise BadMultipart(str(error)) from error


def _events(parser: PushMultipartParser, data: bytes) -> Iterator[MultipartSegment | bytes | bytearray | None]:
    """Yields each segment, the pieces of its body, and None at its end. Empty data checks that the body is complete."""
    try:
        for event in parser.parse(data):
            if isinstance(event, MultipartSegment) and not event.name:
                raise BadMultipart("a part has no Content-Disposition with a name")
            yield event
    except MultipartError as error:
        raise BadMultipart(str(error)) from error


async def _slices(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for data in stream:
            for start in range(0, len(data), SLICE_BYTES):
                yield data[start : start + SLICE_BYTES]
    except ClientDisconnect as error:
        raise BadMultipart("the connection was closed before the body was complete") from error


def _write(spool: Spool, pending: bytearray) -> None:
    try:
        spool.write(bytes(pending))
        spool.flush()
    except OSError as error:
        if is_disk_full(error):
            raise StorageFull from error
        raise
    pending.clear()


def _received(segment: MultipartSegment, spool: Spool) -> ReceivedFile:
    name = safe_name((segment.filename or "").encode("latin-1", errors="replace"))
    file = IncomingFile(spool.path, name, spool.size, spool.content_hash, spool.head)
    field = segment.name.encode("latin-1", errors="replace").decode(errors="replace")
    return ReceivedFile(field, segment.filename is not None, file)
