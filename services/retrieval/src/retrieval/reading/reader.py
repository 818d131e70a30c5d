"""Every statement of a search. It reads one workspace, within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg import AsyncCursor, sql
from psycopg.rows import TupleRow, class_row

from inference.embedders import SpaceKey
from inference.embeddings import EmbeddingSpace
from retrieval.reading.arrays import array_text
from retrieval.reading.vectors import Vector, from_binary, vector_text
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")
Cursor = AsyncCursor[TupleRow]


class Scored(NamedTuple):
    """A chunk that a leg found."""

    chunk: int
    score: float


@dataclass(frozen=True)
class FoundChunk:
    number: int
    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None
    media_type: str
    source_type: str | None
    language: str | None
    tags: list[str]
    content: str
    section_title: str | None
    heading_path: list[str]
    chunk_index: int
    page: int | None
    page_end: int | None
    box: list[float] | None
    line_start: int | None
    line_end: int | None


class IndexReader:
    """Reads the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def size(self) -> tuple[int, int]:
        """(chunks, terms) of the workspace."""
        rows = await self.rows("workspace_size")
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    async def space(self) -> SpaceKey | None:
        """(model, dims) of the space that the workspace is searched in."""
        rows = await self.rows("active_space")
        return (rows[0][0], rows[0][1]) if rows else None

    async def cosines_asked(self, chunks: Sequence[int], vector: Vector, space: EmbeddingSpace) -> Cursor:
        """(chunk, cosine) of each; those without a vector of this embedding space are left out."""
        values = {"chunks": array_text(chunks), "vector": vector_text(vector), "model": space.model, "dims": space.dims}
        return await self.asked("candidate_cosines", values)

    async def chunks(self, numbers: Sequence[int]) -> dict[int, FoundChunk]:
        """By number; a chunk that was removed since is left out."""
        async with self.connection.cursor(row_factory=class_row(FoundChunk)) as cursor:
            values = {"workspace_id": self.workspace_id, "chunks": array_text(numbers)}
            await cursor.execute(QUERIES["load_chunks"], values)
            return {chunk.number: chunk for chunk in await cursor.fetchall()}

    async def vectors(self, chunks: Sequence[int], space: SpaceKey) -> dict[int, Vector]:
        """Returns vectors of about unit length by chunk; chunks without one in this space are left out."""
        values = {"model": space[0], "dims": space[1], "chunks": list(chunks)}
        return {chunk: from_binary(sent) for chunk, sent in await self.rows("candidate_vectors", **values)}

    async def rows(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        """Of a statement about the workspace."""
        return await (await self.asked(name, values)).fetchall()

    async def payloads(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        """The same in binary form, in which bytes are not written as hexadecimal digits."""
        return await (await self.asked(name, values, binary=True)).fetchall()

    async def asked(self, name: str, values: Mapping[str, object], *, binary: bool = False) -> Cursor:
        """The statement on its way: within a pipeline its rows can be fetched after others were asked for."""
        return await self.connection.execute(
            QUERIES[name], {"workspace_id": self.workspace_id, **values}, binary=binary
        )

    async def row(self, name: str, **values: object) -> tuple[Any, ...]:
        """Of a statement that always gives one."""
        return (await self.rows(name, **values))[0]

    async def scored(self, statement: sql.Composed | LiteralString, **values: object) -> list[Scored]:
        async with self.connection.cursor(row_factory=class_row(Scored)) as cursor:
            await cursor.execute(statement, {"workspace_id": self.workspace_id, **values})
            return await cursor.fetchall()
