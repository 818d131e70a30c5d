"""The index of one workspace, as a search reads it within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from contracts.base import LineBox
from retrieval.reading.arrays import array_text
from service_kit.repository import Repository
from service_kit.statements import Statements

Cursor = AsyncCursor[TupleRow]


class ReadingSql(Statements, file="reading.sql"):
    """The state of the index, and what every leg reads."""

    index_state: LiteralString
    back_to_snapshot: LiteralString
    chunks: LiteralString
    numbers_of_chunks: LiteralString
    candidate_rows: LiteralString
    lock_documents: LiteralString
    change_statistics: LiteralString
    generation: LiteralString


class ScoredChunk(NamedTuple):
    """A chunk that a leg found."""

    chunk: int
    score: float


@dataclass(frozen=True)
class IndexedChunk:
    """`lines` are boxes as `packed_lines` in the migrations writes them."""

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
    lines: list[int] | None
    line_start: int | None
    line_end: int | None
    markdown_start: int | None = None
    markdown_end: int | None = None

    def boxes(self) -> list[LineBox]:
        """Returns the boxes of its lines."""
        packed = iter(self.lines or ())
        return [
            LineBox(page=page, box=(left / 10, top / 10, right / 10, bottom / 10), start=start, end=end)
            for page, left, top, right, bottom, start, end in zip(*[packed] * 7, strict=True)
        ]


class IndexReader(Repository):
    """Reads the index of one workspace, within one transaction."""

    async def chunks(self, numbers: Sequence[int]) -> dict[int, IndexedChunk]:
        """Returns chunks by number; those that no longer exist are left out."""
        found = await self.all(ReadingSql.chunks, IndexedChunk, chunks=array_text(numbers))
        return {chunk.number: chunk for chunk in found}

    async def rows(self, sql: LiteralString, **values: object) -> list[tuple[Any, ...]]:
        """Returns the rows of a statement about the workspace."""
        return await (await self.execute(sql, values)).fetchall()

    async def execute(self, sql: LiteralString, values: Mapping[str, object], *, binary: bool = False) -> Cursor:
        """Sends the statement; in a pipeline, its rows can be fetched after further statements are sent.

        Rows with bytes should be `binary`: otherwise these are written as hexadecimal digits.
        """
        return await self.connection.execute(sql, {**self.bound, **values}, binary=binary)
