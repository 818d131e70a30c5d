"""The tables of deletions and their receipts, which prove what each service deleted of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.ingestion import DeletionReceipt, StoreReceipt
from contracts.registry import CONFIRM_DOCUMENT_DELETION
from contracts.sources import SourceDeletion
from ingestion.documents.errors import ReceiptNotFound
from ingestion.documents.rows import DocumentKey
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements


class DocumentDeletionSql(Statements, file="deletions.sql"):
    mark_deleting: LiteralString
    stop_queued_stages: LiteralString
    exclude_origins: LiteralString
    delete_origins: LiteralString
    insert: LiteralString
    find: LiteralString
    deleted: LiteralString
    insert_of_orphan: LiteralString
    lock: LiteralString
    receipts: LiteralString
    write_receipts: LiteralString
    complete: LiteralString
    mark_source_deleted: LiteralString
    insert_of_source: LiteralString
    lock_source_documents: LiteralString
    delete_source_origins: LiteralString
    without_origin: LiteralString
    find_of_source: LiteralString
    source_is_pending: LiteralString
    sum_source_receipts: LiteralString
    unanswered: LiteralString
    announced_again: LiteralString


@dataclass(frozen=True)
class DocumentDeletionRow:
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
class SourceReceiptRow:
    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime


@dataclass(frozen=True)
class DeletionReceiptRow:
    document_id: UUID
    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime


@dataclass(frozen=True)
class Confirmation:
    """What a service deleted of a document, and what it still has."""

    document_id: UUID
    service: str
    removed: dict[str, int]
    remaining: dict[str, int]


class Deletions(Repository):
    async def find(self, document_id: UUID) -> DocumentDeletionRow | None:
        return await self.one(DocumentDeletionSql.find, DocumentDeletionRow, document_id=document_id)

    async def deleted(self, document_ids: Sequence[UUID]) -> list[UUID]:
        """Returns which of these documents are deleted, including long ago or with their workspace."""
        return await self.values(DocumentDeletionSql.deleted, document_ids=list(document_ids))

    async def record_orphan(self, document_id: UUID) -> None:
        """Records the deletion of a document that only other services still hold."""
        await self.run(DocumentDeletionSql.insert_of_orphan, document_id=document_id)

    async def exclude_origins(self, document_id: UUID) -> None:
        """Excludes the document's files from later synchronisations of their sources."""
        await self.run(DocumentDeletionSql.exclude_origins, document_id=document_id)

    async def begin(self, document_ids: Sequence[UUID], source_id: UUID | None) -> None:
        """Hides locked documents and deletes their origins; `source_id` is given if their source is deleted."""
        key = {"document_ids": list(document_ids), "source_id": source_id}
        for statement in (
            DocumentDeletionSql.mark_deleting,
            DocumentDeletionSql.stop_queued_stages,
            DocumentDeletionSql.delete_origins,
            DocumentDeletionSql.insert,
        ):
            await self.run(statement, **key)

    async def begin_of_source(self, source_id: UUID) -> list[UUID] | None:
        """Deletes the source and its origins; returns its documents, locked, or None if there is no such source."""
        if await self.run(DocumentDeletionSql.mark_source_deleted, source_id=source_id) == 0:
            return None
        await self.run(DocumentDeletionSql.insert_of_source, source_id=source_id)
        document_ids = await self.values(DocumentDeletionSql.lock_source_documents, source_id=source_id)
        await self.run(DocumentDeletionSql.delete_source_origins, source_id=source_id)
        return document_ids

    async def without_origin(self, document_ids: Sequence[UUID]) -> set[UUID]:
        """Returns which of these documents have no origin left."""
        return set(await self.values(DocumentDeletionSql.without_origin, document_ids=list(document_ids)))

    async def receipt(self, document_id: UUID) -> DeletionReceipt:
        """Returns what has been confirmed so far; raises ReceiptNotFound."""
        row = await self.find(document_id)
        if row is None:
            raise ReceiptNotFound
        confirmed = {one.service: one for one in await self._receipts([document_id])}
        return DeletionReceipt(
            document_id=document_id,
            requested_at=row.requested_at,
            completed_at=row.completed_at,
            pending=[] if row.completed_at else [name for name in CONFIRM_DOCUMENT_DELETION if name not in confirmed],
            services=[StoreReceipt.model_validate(one, from_attributes=True) for one in confirmed.values()],
        )

    async def source_receipt(self, source_id: UUID) -> SourceDeletion:
        """Returns the sum of the receipts of a source's documents; raises ReceiptNotFound."""
        row = await self.one(DocumentDeletionSql.find_of_source, SourceDeletionRow, source_id=source_id)
        if row is None:
            raise ReceiptNotFound
        receipts = await self.all(DocumentDeletionSql.sum_source_receipts, SourceReceiptRow, source_id=source_id)
        return SourceDeletion(
            source_id=source_id,
            requested_at=row.requested_at,
            completed_at=None if row.pending_documents else row.completed_at or row.requested_at,
            documents=row.documents,
            pending_documents=row.pending_documents,
            services=[StoreReceipt.model_validate(one, from_attributes=True) for one in receipts],
        )

    async def is_source_pending(self, source_id: UUID) -> bool:
        """Returns whether the deletion of a document of the deleted source is not complete."""
        return bool(await self.value(DocumentDeletionSql.source_is_pending, source_id=source_id))

    async def confirm(self, confirmations: Sequence[Confirmation]) -> None:
        """Records what services deleted, added to what they removed earlier; ignores unknown deletions."""
        known = set(
            await self.values(DocumentDeletionSql.lock, document_ids=[one.document_id for one in confirmations])
        )
        receipts = {(one.document_id, one.service): one for one in await self._receipts(sorted(known))}
        written: dict[tuple[UUID, str], Confirmation] = {}
        for new in confirmations:
            key = new.document_id, new.service
            if new.document_id in known:
                earlier = written.get(key) or receipts.get(key)
                removed = Counter(earlier.removed if earlier else {})
                removed.update(new.removed)
                written[key] = replace(new, removed=dict(removed))
        await self.run(
            DocumentDeletionSql.write_receipts,
            document_ids=[one.document_id for one in written.values()],
            services=[one.service for one in written.values()],
            removed=[Jsonb(one.removed) for one in written.values()],
            remaining=[Jsonb(one.remaining) for one in written.values()],
        )
        confirmed = {*receipts, *written}
        done = [one for one in known if all((one, service) in confirmed for service in CONFIRM_DOCUMENT_DELETION)]
        await self.run(DocumentDeletionSql.complete, document_ids=done)

    async def announced_again(self, document_id: UUID, resend_after: float) -> bool:
        """Records that the deletion is republished; returns False if it is complete or it is too early."""
        values = {"document_id": document_id, "resend_after": resend_after}
        return await self.run(DocumentDeletionSql.announced_again, **values) > 0

    async def _receipts(self, document_ids: Sequence[UUID]) -> list[DeletionReceiptRow]:
        return await self.all(DocumentDeletionSql.receipts, DeletionReceiptRow, document_ids=list(document_ids))


class AllDeletions(SystemRepository):
    """The deletions of all workspaces."""

    async def unanswered(self, resend_after: float) -> list[DocumentKey]:
        """Returns incomplete deletions to republish: after `resend_after` seconds, then at growing intervals."""
        return await self.all(DocumentDeletionSql.unanswered, DocumentKey, resend_after=resend_after)
