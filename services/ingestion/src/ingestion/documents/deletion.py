"""Deletes a document everywhere, and keeps the proof: one receipt per service that held something of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from contracts.events import DocumentDeleted
from contracts.ingestion import DeletionReceipt, StoreReceipt
from contracts.registry import CONFIRM_DOCUMENT_DELETION
from contracts.sources import SourceDeletion
from ingestion.documents import documents, origins
from ingestion.documents.errors import DocumentNotFound, ReceiptNotFound
from ingestion.statements import SQL
from service_kit.outbox import INSERT, Outbox, event_row, new_event
from service_kit.postgres import Connection

SERVICE = "ingestion"
BATCH = 1000


@dataclass(frozen=True)
class DeletionRow:
    document_id: UUID
    requested_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True)
class SourceDeletionRow:
    requested_at: datetime
    completed_at: datetime | None
    documents: int
    pending_documents: int


@dataclass(frozen=True)
class ReceiptRow:
    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime


async def request(connection: Connection, outbox: Outbox, workspace_id: UUID, document_id: UUID) -> None:
    """From its commit on, nobody sees the document, and its erasure can no longer be lost.

    What a source has of it stays away. Deleting again what is already deleted changes nothing. Raises DocumentNotFound.
    """
    key = {"workspace_id": workspace_id, "document_id": document_id}
    if await documents.lock(connection, workspace_id, document_id) is None:
        if await _find(connection, "find_deletion", key) is None:
            raise DocumentNotFound
        return
    await connection.execute(SQL["exclude_origins"], key)
    await remove(connection, outbox, workspace_id, [document_id])


async def remove(
    connection: Connection,
    outbox: Outbox,
    workspace_id: UUID,
    document_ids: Sequence[UUID],
    source_id: UUID | None = None,
) -> None:
    """Deletes locked documents with their origins; `source_id` when it is that of a whole source."""
    key = {"workspace_id": workspace_id, "document_ids": list(document_ids), "source_id": source_id}
    for statement in ("mark_deleting", "stop_queued_stages", "delete_origins", "insert_deletions"):
        await connection.execute(SQL[statement], key)
    told = [DocumentDeleted(document_id=one) for one in document_ids]
    events = [event_row(one, new_event(outbox.source, workspace_id, one, str(one.document_id))) for one in told]
    await connection.cursor().executemany(INSERT, events)


async def request_source(connection: Connection, outbox: Outbox, workspace_id: UUID, source_id: UUID) -> bool:
    """Deletes a source with its documents; one that has another origin loses only this. False when there is none.

    It waits for what is being taken from the source; afterwards nothing can be. Tens of thousands of documents are
    one transaction of some seconds.
    """
    key = {"workspace_id": workspace_id, "source_id": source_id}
    if (await connection.execute(SQL["mark_source_deleted"], key)).rowcount == 0:
        return False
    await connection.execute(SQL["insert_source_deletion"], key)
    cursor = connection.cursor(row_factory=scalar_row)
    await cursor.execute(SQL["lock_source_documents"], key)
    ids: list[UUID] = await cursor.fetchall()
    await connection.execute(SQL["delete_source_origins"], key)
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        await cursor.execute(SQL["find_without_origin"], {"workspace_id": workspace_id, "document_ids": batch})
        alone = set(await cursor.fetchall())
        await remove(connection, outbox, workspace_id, [one for one in batch if one in alone], source_id)
        await origins.describe(connection, outbox, workspace_id, [one for one in batch if one not in alone])
    return True


async def source_receipt(connection: Connection, workspace_id: UUID, source_id: UUID) -> SourceDeletion:
    """The receipts of its documents, added up; raises ReceiptNotFound."""
    key = {"workspace_id": workspace_id, "source_id": source_id}
    async with connection.cursor(row_factory=class_row(SourceDeletionRow)) as cursor:
        await cursor.execute(SQL["find_source_deletion"], key)
        row = await cursor.fetchone()
    if row is None:
        raise ReceiptNotFound
    async with connection.cursor(row_factory=class_row(ReceiptRow)) as cursor:
        await cursor.execute(SQL["sum_source_receipts"], key)
        services = [StoreReceipt.model_validate(one, from_attributes=True) for one in await cursor.fetchall()]
    return SourceDeletion(
        source_id=source_id,
        requested_at=row.requested_at,
        completed_at=None if row.pending_documents else row.completed_at or row.requested_at,
        documents=row.documents,
        pending_documents=row.pending_documents,
        services=services,
    )


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
        pending=[] if row.completed_at else [name for name in CONFIRM_DOCUMENT_DELETION if name not in confirmed],
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
    done = set(CONFIRM_DOCUMENT_DELETION) <= {*confirmed, service}
    await connection.execute(SQL["complete_deletion" if done else "touch_deletion"], key)


async def _find(connection: Connection, statement: str, key: dict[str, UUID]) -> DeletionRow | None:
    async with connection.cursor(row_factory=class_row(DeletionRow)) as cursor:
        await cursor.execute(SQL[statement], key)
        return await cursor.fetchone()


async def _receipts(connection: Connection, key: dict[str, UUID]) -> dict[str, ReceiptRow]:
    async with connection.cursor(row_factory=class_row(ReceiptRow)) as cursor:
        await cursor.execute(SQL["list_receipts"], key)
        return {row.service: row for row in await cursor.fetchall()}
