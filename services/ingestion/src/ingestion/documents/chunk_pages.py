"""Reads a document's chunks page by page, and no more of the stored object than a page needs."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass

from contracts.ingestion import Chunk
from service_kit.chunks import read_chunks as chunks_in
from service_kit.chunks import read_lines
from service_kit.objects import ObjectStore
from service_kit.problems import BadCursor


@dataclass(frozen=True)
class ChunkPage:
    """A page of chunks. `following` is the byte offset and index at which the next page begins; None on the last."""

    chunks: list[Chunk]
    following: tuple[int, int] | None


async def read_chunks(objects: ObjectStore, key: str, offset: int, first: int, limit: int) -> ChunkPage:
    """Returns up to `limit` chunks from the byte `offset` on, where the chunk with the index `first` begins.

    Raises ObjectMissing, and BadCursor if another chunk is there because the document was chunked again.
    """
    return await asyncio.to_thread(_read, objects, key, offset, first, limit)


def _read(objects: ObjectStore, key: str, offset: int, first: int, limit: int) -> ChunkPage:
    chunks: list[Chunk] = []
    with closing(objects.stream(key, offset)) as pieces:
        for line in read_lines(pieces):
            chunk = _chunk(line)
            if not chunks and chunk.chunk_index != first:
                raise BadCursor
            if len(chunks) == limit:
                return ChunkPage(chunks, (offset, chunk.chunk_index))
            chunks.append(chunk)
            offset += len(line) + 1
    return ChunkPage(chunks, None)


async def read_chunk(objects: ObjectStore, key: str, chunk_id: str) -> Chunk | None:
    """Returns the chunk with this id, or None. Raises ObjectMissing."""

    def read() -> Chunk | None:
        with closing(objects.stream(key)) as pieces:
            return next(chunks_in(pieces, [chunk_id]), None)

    return await asyncio.to_thread(read)


def _chunk(line: bytes) -> Chunk:
    try:
        return Chunk.model_validate_json(line)
    except ValueError as error:
        raise BadCursor from error
