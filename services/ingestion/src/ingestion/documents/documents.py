"""Locks, reads and writes documents and stages in the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from contracts.ingestion import DocumentStatus, OriginKind, StageName
from ingestion.documents.errors import DocumentNotFound
from ingestion.documents.rows import DocumentRow, StageRow, in_order
from ingestion.statements import SQL
from service_kit.postgres import Connection
from service_kit.tracing import outgoing_headers


async def _one(connection: Connection, statement: str, **values: Any) -> DocumentRow | None:
    async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        await cursor.execute(SQL[statement], values)
        return await cursor.fetchone()


async def find_by_hash(connection: Connection, workspace_id: UUID, content_hash: str) -> DocumentRow | None:
    """The one whose newest version has these bytes."""
    return await _one(connection, "find_document_by_hash", workspace_id=workspace_id, content_hash=content_hash)


async def find(
    connection: Connection, workspace_id: UUID, document_id: UUID, *, for_update: bool = False
) -> DocumentRow:
    """Raises DocumentNotFound, also when the document is being deleted. `for_update` locks it."""
    statement = "lock_document" if for_update else "find_document"
    row = await _one(connection, statement, workspace_id=workspace_id, document_id=document_id)
    if row is None:
        raise DocumentNotFound
    return row


async def lock(connection: Connection, workspace_id: UUID, document_id: UUID) -> DocumentRow | None:
    """The document, held until the transaction ends; None when there is none or it is being deleted.

    Whoever changes stages together with the document takes this first, so that locks have one order.
    """
    return await _one(connection, "lock_document", workspace_id=workspace_id, document_id=document_id)


async def lock_all(connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]) -> list[DocumentRow]:
    """Those that there are and that are not being deleted, in the order of their ids."""
    async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        values = {"workspace_id": workspace_id, "document_ids": list(document_ids)}
        await cursor.execute(SQL["lock_documents"], values)
        return await cursor.fetchall()


async def lock_content(connection: Connection, workspace_id: UUID, content_hash: str) -> None:
    """Held until the transaction ends: nobody takes in or erases these bytes beside it.

    Locks have one order: place, source, content, document.
    """
    values = {"workspace_id": workspace_id, "content_hash": content_hash}
    await connection.execute(SQL["lock_content"], values)


async def insert(
    connection: Connection,
    *,
    workspace_id: UUID,
    document_id: UUID,
    name: str,
    media_type: str,
    file_size: int,
    content_hash: str,
    kind: OriginKind,
) -> DocumentRow:
    """With its first version."""
    values = {"workspace_id": workspace_id, "document_id": document_id, "name": name, "media_type": media_type}
    more = {"file_size": file_size, "content_hash": content_hash, "kind": kind}
    await connection.execute(SQL["insert_document"], {**values, **more})
    return await find(connection, workspace_id, document_id)


async def stages(connection: Connection, workspace_id: UUID, document_id: UUID) -> list[StageRow]:
    """In their order."""
    return (await stages_of_all(connection, workspace_id, [document_id]))[document_id]


async def stages_of_all(
    connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]
) -> dict[UUID, list[StageRow]]:
    """By document, in their order."""
    values = {"workspace_id": workspace_id, "document_ids": list(document_ids)}
    found: dict[UUID, list[StageRow]] = defaultdict(list)
    for row in await (await connection.execute(SQL["list_stages"], values)).fetchall():
        found[row[0]].append(StageRow(*row[1:]))
    return {document_id: in_order(found[document_id]) for document_id in document_ids}


async def set_status(connection: Connection, document: DocumentRow, status: DocumentStatus) -> None:
    values = {"workspace_id": document.workspace_id, "document_id": document.id, "status": status}
    await connection.execute(SQL["set_document_status"], values)


async def requeue(connection: Connection, document: DocumentRow, stage: StageName) -> None:
    """The stage waits for a worker (or a confirmation) again, with its counters at zero."""
    values = {"workspace_id": document.workspace_id, "document_id": document.id, "name": stage}
    traceparent = outgoing_headers().get("traceparent")
    await connection.execute(SQL["requeue_stage"], {**values, "traceparent": traceparent})


async def reset(connection: Connection, document: DocumentRow, stage: StageName) -> None:
    """The stage waits for the one before it."""
    values = {"workspace_id": document.workspace_id, "document_id": document.id, "name": stage}
    await connection.execute(SQL["reset_stage"], values)
