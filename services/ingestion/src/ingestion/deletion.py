"""Deletes a document everywhere, and keeps the proof: one receipt per service that held something of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from contracts.events import DocumentDeleted
from contracts.ingestion import DeletionReceipt, StoreReceipt
from ingestion import documents
from ingestion.errors import DocumentNotFound, ReceiptNotFound
from ingestion.statements import SQL
from service_kit.outbox import Outbox
from service_kit.postgres import Connection

SERVICE = "ingestion"
CONFIRMING = (SERVICE, "retrieval", "knowledge-graph", "memory")


@dataclass(frozen=True)
class DeletionRow:
    document_id: UUID
    requested_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True)
class ReceiptRow:
    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime


async def request(connection: Connection, outbox: Outbox, workspace_id: UUID, document_id: UUID) -> None:
    """From its commit on, nobody sees the document, and its erasure can no longer be lost.

    Deleting again what is already deleted changes nothing. Raises DocumentNotFound.
    """
    key = {"workspace_id": workspace_id, "document_id": document_id}
    if await documents.lock(connection, workspace_id, document_id) is None:
        if await _find(connection, "find_deletion", key) is None:
            raise DocumentNotFound
        return
    await connection.execute(SQL["mark_deleting"], key)
    await connection.execute(SQL["stop_queued_stages"], key)
    await connection.execute(SQL["insert_deletion"], key)
    await outbox.write(connection, workspace_id, DocumentDeleted(document_id=document_id), str(document_id))


async def receipt(connection: Connection, workspace_id: UUID, document_id: UUID) -> DeletionReceipt:
    """What has been confirmed so far; raises ReceiptNotFound."""
    key = {"workspace_id": workspace_id, "document_id": document_id}
    row = await _find(connection, "find_deletion", key)
    if row is None:
        raise ReceiptNotFound
    confirmed = await _receipts(connection, key)
    return DeletionReceipt(
        document_id=document_id,
        requested_at=row.requested_at,
        completed_at=row.completed_at,
        pending=[name for name in CONFIRMING if name not in confirmed],
        services=[StoreReceipt.model_validate(one, from_attributes=True) for one in confirmed.values()],
    )


async def confirm(
    connection: Connection,
    workspace_id: UUID,
    document_id: UUID,
    service: str,
    removed: dict[str, int],
    remaining: dict[str, int],
) -> None:
    """Enters a service's counts; what it removed in several rounds is added up. Unknown deletions are passed over."""
    key = {"workspace_id": workspace_id, "document_id": document_id}
    if await _find(connection, "lock_deletion", key) is None:
        return
    confirmed = await _receipts(connection, key)
    earlier = confirmed[service].removed if service in confirmed else {}
    total = {kind: earlier.get(kind, 0) + removed.get(kind, 0) for kind in {**earlier, **removed}}
    values = {**key, "service": service, "removed": Jsonb(total), "remaining": Jsonb(remaining)}
    await connection.execute(SQL["write_receipt"], values)
    # Also the trigger by which a waiting caller learns of the receipt.
    done = set(CONFIRMING) <= {*confirmed, service}
    await connection.execute(SQL["complete_deletion" if done else "touch_deletion"], key)


async def _find(connection: Connection, statement: str, key: dict[str, UUID]) -> DeletionRow | None:
    async with connection.cursor(row_factory=class_row(DeletionRow)) as cursor:
        await cursor.execute(SQL[statement], key)
        return await cursor.fetchone()


async def _receipts(connection: Connection, key: dict[str, UUID]) -> dict[str, ReceiptRow]:
    async with connection.cursor(row_factory=class_row(ReceiptRow)) as cursor:
        await cursor.execute(SQL["list_receipts"], key)
        return {row.service: row for row in await cursor.fetchall()}
