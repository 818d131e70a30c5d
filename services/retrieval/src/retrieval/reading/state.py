"""What a search knows of the index before it begins: one statement, in the search's own snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from psycopg.rows import class_row

from inference.embedders import SpaceKey
from retrieval.reading.reader import QUERIES, IndexReader
from service_kit.postgres import Connection

Version: TypeAlias = tuple[int | None, str | None, str | None, int | None]


@dataclass(frozen=True)
class IndexState:
    """`model`, `dims`: the active space. `chunks`, `terms`: of the workspace. `stemmings`: the most frequent first.
    `recent_*`: the rows of postings that are in no block yet. `index_bytes`: of the approximate index.
    """

    generation: int | None
    changed_by: str | None
    model: str | None
    dims: int | None
    chunks: int
    terms: int
    stemmings: Sequence[str]
    recent_documents: Sequence[int]
    recent_batches: Sequence[int]
    index_bytes: int

    @property
    def version(self) -> Version:
        """Differs wherever the same search could find something else, or by another rule."""
        return self.generation, self.changed_by, self.model, self.dims


async def index_state(reader: IndexReader, default: SpaceKey) -> IndexState:
    """`default` is the space of a workspace that has no active one."""
    async with reader.connection.cursor(row_factory=class_row(IndexState)) as cursor:
        values = {"workspace_id": reader.workspace_id, "model": default[0], "dims": default[1]}
        await cursor.execute(QUERIES["index_state"], values)
        found = await cursor.fetchone()
    assert found is not None, "the statement gives a row for every workspace"
    return found


async def raise_generation(connection: Connection, workspace_id: UUID) -> None:
    """Marks the index as changed, so that no cached answer is used. Call it late in the transaction: it locks a row."""
    values = {"workspace_id": workspace_id, "chunks": 0, "terms": 0}
    await connection.execute(QUERIES["change_statistics"], values)
