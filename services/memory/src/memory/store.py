"""Every query of the service. The caller opens the transaction, in the workspace that it passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from contracts.memory import MemoryKind
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("memory")


@dataclass(frozen=True)
class Vector:
    """An embedding as pgvector reads it, and the model that made it."""

    model: str
    text: str


@dataclass(frozen=True)
class NewMemory:
    id: UUID
    kind: MemoryKind
    content: str
    created_by: UUID
    vector: Vector
    session_id: UUID | None = None
    run_id: UUID | None = None


@dataclass(frozen=True)
class StoredMemory:
    id: UUID
    kind: str
    content: str
    session_id: UUID | None
    created_by: UUID
    created_at: datetime
    document_ids: list[UUID]


@dataclass(frozen=True)
class ScoredMemory(StoredMemory):
    score: float


@dataclass(frozen=True)
class Forgotten:
    """How many links to a document were cut, and how many memories went because it was their last source."""

    sources: int
    memories: int


async def lock(connection: Connection, workspace_id: UUID) -> None:
    """Until the transaction ends: what derives from documents and what deletes them take turns."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"memory/{workspace_id}",))


async def insert(connection: Connection, workspace_id: UUID, memory: NewMemory) -> bool:
    """False when the memory, or one of the same run, is there already."""
    values = {
        "workspace_id": workspace_id,
        "id": memory.id,
        "kind": memory.kind.value,
        "content": memory.content,
        "created_by": memory.created_by,
        "session_id": memory.session_id,
        "run_id": memory.run_id,
        "model": memory.vector.model,
        "embedding": memory.vector.text,
    }
    return (await connection.execute(QUERIES["insert_memory"], values)).rowcount == 1


async def insert_sources(
    connection: Connection, workspace_id: UUID, memory_id: UUID, document_ids: Sequence[UUID]
) -> None:
    values = {"workspace_id": workspace_id, "memory_id": memory_id, "document_ids": list(document_ids)}
    await connection.execute(QUERIES["insert_sources"], values)


async def living_documents(connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]) -> list[UUID]:
    """Those of the documents that were not deleted."""
    values = {"workspace_id": workspace_id, "document_ids": list(document_ids)}
    cursor = await connection.execute(QUERIES["living_documents"], values)
    return [row[0] for row in await cursor.fetchall()]


async def find(connection: Connection, workspace_id: UUID, user_id: UUID, memory_id: UUID) -> StoredMemory | None:
    async with connection.cursor(row_factory=class_row(StoredMemory)) as cursor:
        await cursor.execute(
            QUERIES["find_memory"], {"workspace_id": workspace_id, "user_id": user_id, "id": memory_id}
        )
        return await cursor.fetchone()


async def page(
    connection: Connection,
    workspace_id: UUID,
    user_id: UUID,
    *,
    kind: MemoryKind | None,
    before: tuple[datetime | None, UUID | None],
    limit: int,
) -> list[StoredMemory]:
    """The user's memories, newest first."""
    values = {
        "workspace_id": workspace_id,
        "user_id": user_id,
        "kind": kind.value if kind else None,
        "before": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    async with connection.cursor(row_factory=class_row(StoredMemory)) as cursor:
        return await (await cursor.execute(QUERIES["list_memories"], values)).fetchall()


async def nearest(
    connection: Connection, workspace_id: UUID, user_id: UUID, vector: Vector, k: int
) -> list[ScoredMemory]:
    """The user's memories by cosine similarity, best first; only those embedded by the same model."""
    values = {
        "workspace_id": workspace_id,
        "user_id": user_id,
        "model": vector.model,
        "embedding": vector.text,
        "k": k,
    }
    async with connection.cursor(row_factory=class_row(ScoredMemory)) as cursor:
        return await (await cursor.execute(QUERIES["recall"], values)).fetchall()


async def delete(connection: Connection, workspace_id: UUID, user_id: UUID, memory_id: UUID) -> bool:
    """False when the user has no such memory."""
    cursor = await connection.execute(
        "DELETE FROM memory WHERE workspace_id = %s AND id = %s AND created_by = %s", (workspace_id, memory_id, user_id)
    )
    return cursor.rowcount == 1


async def forget_document(connection: Connection, workspace_id: UUID, document_id: UUID) -> Forgotten:
    """Marks the document as deleted for good and removes it from the memories that derive from it."""
    await connection.execute(
        "INSERT INTO deleted_document (workspace_id, document_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (workspace_id, document_id),
    )
    values = {"workspace_id": workspace_id, "document_id": document_id}
    async with connection.cursor(row_factory=class_row(Forgotten)) as cursor:
        return await (await cursor.execute(QUERIES["forget_document"], values)).fetchone() or Forgotten(0, 0)


async def count_derived(connection: Connection, workspace_id: UUID, document_id: UUID) -> int:
    """How many memories derive from the document."""
    cursor = await connection.execute(
        "SELECT count(*) FROM memory_source WHERE workspace_id = %s AND document_id = %s", (workspace_id, document_id)
    )
    return int((await cursor.fetchone() or (0,))[0])
