"""Reads and writes documents and stages in the caller's transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from contracts.ingestion import DocumentDetail, DocumentStatus, OriginKind, StageName
from ingestion.errors import DocumentNotFound
from ingestion.explanation import explain
from ingestion.rows import DocumentRow, StageRow, in_order
from ingestion.statements import SQL
from service_kit.postgres import Connection
from service_kit.tracing import outgoing_headers


async def _one(connection: Connection, statement: str, **values: Any) -> DocumentRow | None:
    async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        await cursor.execute(SQL[statement], values)
        return await cursor.fetchone()


async def find_by_hash(connection: Connection, workspace_id: UUID, content_hash: str) -> DocumentRow | None:
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


async def lock_content(connection: Connection, workspace_id: UUID, content_hash: str) -> None:
    """Held until the transaction ends: no upload and no erasure of these bytes runs beside it."""
    values = {"workspace_id": workspace_id, "content_hash": content_hash}
    await connection.execute(SQL["lock_content"], values)


async def page(
    connection: Connection,
    workspace_id: UUID,
    *,
    status: DocumentStatus | None,
    name: str | None,
    media_type: str | None,
    before: tuple[datetime | None, UUID | None],
    limit: int,
) -> list[DocumentRow]:
    """Newest first; `name` matches anywhere in the name, in either case."""
    pattern = None if name is None else "%" + name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    values = {
        "workspace_id": workspace_id,
        "status": status,
        "name": pattern,
        "media_type": media_type,
        "before": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        await cursor.execute(SQL["list_documents"], values)
        return await cursor.fetchall()


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


async def insert_stages(connection: Connection, workspace_id: UUID, document_id: UUID, received_at: datetime) -> None:
    values = {
        "workspace_id": workspace_id,
        "document_id": document_id,
        "received_at": received_at,
        "traceparent": outgoing_headers().get("traceparent"),
    }
    await connection.execute(SQL["insert_stages"], values)


async def stages(connection: Connection, workspace_id: UUID, document_id: UUID) -> list[StageRow]:
    """In their order."""
    async with connection.cursor(row_factory=class_row(StageRow)) as cursor:
        await cursor.execute(SQL["list_stages"], {"workspace_id": workspace_id, "document_id": document_id})
        return in_order(await cursor.fetchall())


async def detail(connection: Connection, workspace_id: UUID, document_id: UUID) -> DocumentDetail:
    """Raises DocumentNotFound."""
    document = await find(connection, workspace_id, document_id)
    rows = await stages(connection, workspace_id, document_id)
    key = {"workspace_id": workspace_id, "document_id": document_id}
    ahead = await (await connection.execute(SQL["count_ahead"], key)).fetchone()
    return DocumentDetail(
        **document.resource().model_dump(),
        headings=document.headings,
        origins=[],
        stages=[row.resource() for row in rows],
        explanation=explain(document.status, rows, int(ahead[0]) if ahead else 0),
    )


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
