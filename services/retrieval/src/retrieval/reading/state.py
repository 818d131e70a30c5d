"""The state of a workspace's index: what a search knows before it begins, and what every writer changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from retrieval.reading.reader import ReadingSql
from service_kit.postgres import Connection

Version: TypeAlias = tuple[int | None, str | None, str | None, int | None]


@dataclass(frozen=True)
class IndexState:
    """The state of a workspace's index.

    `model`, `dims`: the active space. `chunks`, `terms`: totals of the workspace. `stemmings`: most frequent first.
    `recent_*`: the rows of postings that are not folded yet. `index_bytes`: the size of the approximate index.
    `exported`: the name of the transaction's snapshot, if others can share it.
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
    exported: str | None

    @property
    def version(self) -> Version:
        """Differs whenever the same search could give another result."""
        return self.generation, self.changed_by, self.model, self.dims


async def lock_documents(connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]) -> None:
    """Locks out other writers of these documents until the transaction ends.

    Call it once per transaction, after the workspace's lock and before any other lock of the index.
    """
    values = {"workspace_id": workspace_id, "document_ids": list(document_ids)}
    await connection.execute(ReadingSql.lock_documents, values)


async def change_statistics(connection: Connection, workspace_id: UUID, chunks: int, terms: int) -> None:
    """Adds to the workspace's counts and raises its generation. Call it late in the transaction: it locks a row."""
    values = {"workspace_id": workspace_id, "chunks": chunks, "terms": terms}
    await connection.execute(ReadingSql.change_statistics, values)


async def raise_generation(connection: Connection, workspace_id: UUID) -> None:
    """Marks the index as changed, so that no cached answer is used. Call it late in the transaction: it locks a row."""
    await change_statistics(connection, workspace_id, 0, 0)


async def generation(connection: Connection, workspace_id: UUID) -> int:
    """Returns the generation, including this transaction's changes; 0 for an index that was never changed."""
    row = await (await connection.execute(ReadingSql.generation, {"workspace_id": workspace_id})).fetchone()
    return row[0] if row else 0
