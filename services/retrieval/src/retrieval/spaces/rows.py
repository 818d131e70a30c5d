"""The statements about embedding spaces, in the caller's transaction.

Who changes what a workspace's chunks are or which space is searched takes the workspace's lock: writers share it
(service_kit's guard takes it for each of them), a switch has it alone. The lock of a document comes after it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from contracts.embedding_spaces import SpaceStatus
from inference.embedders import SpaceKey
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")


def space_id(model: str, dims: int) -> str:
    """As the database makes it (`embedding_space_id`): the same in every workspace."""
    return hashlib.md5(f"{model}/{dims}".encode(), usedforsecurity=False).hexdigest()[:16]


@dataclass(frozen=True)
class SpaceRow:
    """A space that was asked for. `rate` is in vectors a second while it is built."""

    id: str
    model: str
    dims: int
    status: SpaceStatus
    activate: bool
    incomplete: bool
    rate: float | None
    error_class: str | None
    error_message: str | None
    created_at: datetime
    activated_at: datetime | None

    @property
    def key(self) -> SpaceKey:
        return self.model, self.dims


@dataclass(frozen=True)
class DocumentCount:
    document_id: UUID
    version: int
    chunk_count: int


class SpaceRows:
    """The spaces of one workspace."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def lock_workspace(self) -> None:
        """Until the end of the transaction nobody writes a chunk or a vector of the workspace. Take it first."""
        await self.connection.execute("SET LOCAL lock_timeout = '10s'")
        await self.connection.execute("SELECT pg_advisory_xact_lock(workspace_lock(%s))", (self.workspace_id,))

    async def all(self) -> list[SpaceRow]:
        """In the order of their creation."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(QUERIES["spaces"], {"workspace_id": self.workspace_id})
            return [SpaceRow(**row | {"status": SpaceStatus(row["status"])}) async for row in cursor]

    async def find(self, space_id: str) -> SpaceRow | None:
        return next((row for row in await self.all() if row.id == space_id), None)

    async def active(self) -> SpaceRow | None:
        return next((row for row in await self.all() if row.status is SpaceStatus.active), None)

    async def add(self, space: SpaceKey, status: SpaceStatus, *, activate: bool = False) -> bool:
        """False when the workspace has the space already, or has an active one and this should be."""
        values = self._of(space) | {"id": space_id(*space), "status": status.value, "activate": activate}
        return (await self.connection.execute(QUERIES["add_space"], values)).rowcount == 1

    async def change(self, row: SpaceRow, status: SpaceStatus, *, activate: bool = False) -> None:
        """Also forgets what went wrong, so that work on it begins at once."""
        values = {"id": row.id, "status": status.value, "activate": activate}
        await self.connection.execute(QUERIES["change_space"], {"workspace_id": self.workspace_id, **values})

    async def activate_no_other(self, row: SpaceRow) -> None:
        """Of several spaces that are built, the one that was asked for last is switched to."""
        values = {"workspace_id": self.workspace_id, "id": row.id}
        await self.connection.execute(QUERIES["activate_no_other"], values)

    async def mark_incomplete(self, row: SpaceRow) -> None:
        """Tells the builder that the active space lacks vectors."""
        await self.connection.execute(QUERIES["mark_incomplete"], {"workspace_id": self.workspace_id, "id": row.id})

    async def counts(self) -> tuple[int, dict[SpaceKey, int]]:
        """(chunks of the workspace, vectors by space)."""
        values = {"workspace_id": self.workspace_id}
        cursor = await self.connection.execute(QUERIES["vector_counts"], values)
        vectors = {(model, dims): count for model, dims, count in await cursor.fetchall()}
        size = await (await self.connection.execute(QUERIES["workspace_size"], values)).fetchone()
        return size[0] if size else 0, vectors

    async def missing(self, space: SpaceKey) -> int:
        """Counts the chunks without a vector one by one."""
        row = await (await self.connection.execute(QUERIES["count_missing"], self._of(space))).fetchone()
        return int(row[0]) if row else 0

    async def vectors(self, number: int, space: SpaceKey) -> int:
        """Counts the vectors of a document's chunks."""
        values = self._of(space) | {"document": number}
        row = await (await self.connection.execute(QUERIES["document_vectors"], values)).fetchone()
        return int(row[0]) if row else 0

    async def complete_documents(self, document_ids: list[UUID], space: SpaceKey) -> list[DocumentCount]:
        """Those of which every chunk has a vector."""
        return await self._documents("complete_documents", self._of(space) | {"document_ids": document_ids})

    async def incomplete_documents(self, space: SpaceKey) -> list[DocumentCount]:
        """Those of which a chunk has no vector."""
        return await self._documents("incomplete_documents", self._of(space))

    async def _documents(self, name: str, values: dict[str, object]) -> list[DocumentCount]:
        async with self.connection.cursor(row_factory=class_row(DocumentCount)) as cursor:
            await cursor.execute(QUERIES[name], values)
            return await cursor.fetchall()

    def _of(self, space: SpaceKey) -> dict[str, object]:
        return {"workspace_id": self.workspace_id, "model": space[0], "dims": space[1]}


async def ensure_vector_index(connection: Connection, model: str, dims: int) -> str:
    """Creates the HNSW index of an embedding space if it is missing; returns its name. It may take long."""
    await connection.execute("SET LOCAL statement_timeout = 0")
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("SELECT ensure_vector_index(%s, %s)", (model, dims))
        return str(await cursor.fetchone())
