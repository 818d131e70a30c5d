"""The tables of documents and their versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import LiteralString
from uuid import UUID

from contracts.events import DocumentIndexed
from contracts.ingestion import DocumentFilter, DocumentStatus, OriginKind, StageName
from ingestion.documents.errors import DocumentNotFound, NotConverted
from ingestion.documents.rows import DocumentRow, VersionRow, columns
from service_kit.repository import Repository
from service_kit.statements import Statements


class DocumentSql(Statements, file="documents.sql", columns=columns(DocumentRow), version_columns=columns(VersionRow)):
    find: LiteralString
    find_by_hash: LiteralString
    lock: LiteralString
    lock_all: LiteralString
    page: LiteralString
    choose: LiteralString
    summarise: LiteralString
    lock_content: LiteralString
    lock_contents: LiteralString
    insert: LiteralString
    begin_version: LiteralString
    set_status: LiteralString
    cancel: LiteralString
    resume: LiteralString
    describe: LiteralString
    give: LiteralString
    record_conversion: LiteralString
    record_embedding: LiteralString
    fail_embedding: LiteralString
    confirm_index: LiteralString
    page_of_versions: LiteralString
    readable_version: LiteralString
    reusable_version: LiteralString
    choose_embedding: LiteralString
    chosen_embedding: LiteralString


@dataclass(frozen=True)
class Content:
    """An accepted file on disk, at `path`, that becomes a version of a document."""

    path: Path
    name: str
    media_type: str
    file_size: int
    content_hash: str
    received_at: datetime


@dataclass(frozen=True)
class DocumentFilters:
    """Filters of the list; None does not filter. `name` matches any part of the name, ignoring case."""

    status: DocumentStatus | None = None
    name: str | None = None
    media_type: str | None = None
    source_id: UUID | None = None
    source_type: OriginKind | None = None
    tag: str | None = None
    embedding_status: str | None = None
    stale: bool | None = None
    ids: Sequence[UUID] | None = None
    content_hash: str | None = None


@dataclass(frozen=True)
class SummaryRow:
    total: int
    by_status: dict[str, int]
    by_stage: dict[str, int]
    embedding_failed: int
    failures: dict[str, int]
    queued_bytes: int
    done_last_minute: int
    done_lately: int
    done_since: datetime | None


@dataclass(frozen=True)
class DescribedRow(DocumentRow):
    """A document after its source fields were updated. `changed`: other services have outdated ones."""

    changed: bool


class Documents(Repository):
    async def find(self, document_id: UUID) -> DocumentRow:
        """Returns the document; raises DocumentNotFound, also while it is being deleted."""
        return _found(await self.one(DocumentSql.find, DocumentRow, document_id=document_id))

    async def find_by_hash(self, content_hash: str) -> DocumentRow | None:
        """Returns the document whose newest version has these bytes, or None."""
        return await self.one(DocumentSql.find_by_hash, DocumentRow, content_hash=content_hash)

    async def lock(self, document_id: UUID) -> DocumentRow | None:
        """Locks the document until the transaction ends; returns None if it does not exist or is being deleted.

        Lock a document before changing its stages, so that all transactions lock in the same order.
        """
        return await self.one(DocumentSql.lock, DocumentRow, document_id=document_id)

    async def lock_existing(self, document_id: UUID) -> DocumentRow:
        """Locks the document like `lock`, but raises DocumentNotFound."""
        return _found(await self.lock(document_id))

    async def lock_all(self, document_ids: Sequence[UUID]) -> list[DocumentRow]:
        """Locks, in the order of their ids, the documents that exist and are not being deleted."""
        return await self.all(DocumentSql.lock_all, DocumentRow, document_ids=list(document_ids))

    async def lock_content(self, content_hash: str) -> None:
        """Keeps other transactions from taking in or deleting these bytes until this one ends.

        Locks are taken in the order place, source, content, document.
        """
        await self.run(DocumentSql.lock_content, content_hash=content_hash)

    async def lock_contents(self, hashes: Sequence[str]) -> None:
        """Takes several locks of `lock_content` in the order given, which must be sorted."""
        await self.run(DocumentSql.lock_contents, contents=list(hashes))

    async def page(
        self, filters: DocumentFilters, before: tuple[datetime | None, UUID | None], limit: int
    ) -> list[DocumentRow]:
        """Returns documents newest first, starting after `before`."""
        name = filters.name and f"%{_escaped(filters.name)}%"
        values = {**asdict(filters), "name": name, "before": before[0], "before_id": before[1], "limit": limit}
        return await self.all(DocumentSql.page, DocumentRow, **values)

    async def choose(self, chosen: DocumentFilter, after: UUID | None, limit: int) -> list[UUID]:
        """Returns up to `limit` ids of matching documents in ascending order, starting after `after`."""
        return await self.values(DocumentSql.choose, **chosen.model_dump(), after=after, limit=limit)

    async def summarise(self, source_id: UUID | None) -> SummaryRow:
        """Counts the workspace's documents, or those of one source."""
        row = await self.one(DocumentSql.summarise, SummaryRow, source_id=source_id)
        assert row is not None
        return row

    async def insert(self, document_id: UUID, content: Content, kind: OriginKind) -> None:
        """Inserts a document with its first version."""
        await self.run(DocumentSql.insert, document_id=document_id, kind=kind, **asdict(content))

    async def begin_version(self, document_id: UUID, content: Content) -> None:
        await self.run(DocumentSql.begin_version, document_id=document_id, **asdict(content))

    async def set_status(self, document_ids: Iterable[UUID], status: DocumentStatus) -> None:
        await self.run(DocumentSql.set_status, document_ids=list(document_ids), status=status)

    async def cancel(self, document_ids: Sequence[UUID]) -> None:
        """Updates the status of documents whose stages were cancelled; an indexed version stays searchable."""
        await self.run(DocumentSql.cancel, document_ids=list(document_ids))

    async def resume(self, stages: Sequence[tuple[UUID, StageName]]) -> None:
        """Updates the status of documents whose stages, given as (document id, stage), are queued again."""
        ids, names = [document_id for document_id, _ in stages], [name for _, name in stages]
        await self.run(DocumentSql.resume, document_ids=ids, names=names)

    async def describe(self, document_ids: Sequence[UUID]) -> list[DescribedRow]:
        """Copies source fields from origins into documents; returns the documents that have an origin."""
        return await self.all(DocumentSql.describe, DescribedRow, document_ids=list(document_ids))

    async def give(self, document_id: UUID, title: str | None, tags: Sequence[str] | None) -> DocumentRow:
        """Gives a locked document the title and tags that are not None; returns it."""
        values = {"title": title, "tags": None if tags is None else list(dict.fromkeys(tags))}
        return _found(await self.one(DocumentSql.give, DocumentRow, document_id=document_id, **values))

    async def record_embedding(self, document: DocumentRow, model: str | None, dims: int | None) -> None:
        """Records the model of the newest version's vectors; None if embedding failed."""
        key = {"document_id": document.id, "version": document.version}
        await self.run(DocumentSql.record_embedding, **key, embedding_model=model, embedding_dims=dims)

    async def fail_embedding(self, document_id: UUID) -> None:
        await self.run(DocumentSql.fail_embedding, document_id=document_id)

    async def confirm_index(self, indexed: Sequence[DocumentIndexed]) -> None:
        """Records which versions are indexed, and with how many vectors."""
        await self.run(
            DocumentSql.confirm_index,
            document_ids=[one.document_id for one in indexed],
            versions=[one.version for one in indexed],
            vectors=[one.vectors for one in indexed],
            chunk_counts=[one.chunk_count for one in indexed],
        )

    async def versions(self, document_id: UUID, *, before: int | None, limit: int) -> list[VersionRow]:
        """Returns versions newest first, starting after the version `before`."""
        key = {"document_id": document_id}
        return await self.all(DocumentSql.page_of_versions, VersionRow, **key, before=before, limit=limit)

    async def readable_version(self, document: DocumentRow) -> int:
        """Returns the version that search serves, or else the newest converted one; raises NotConverted."""
        values = {"document_id": document.id, "searchable_version": document.searchable_version}
        version = await self.value(DocumentSql.readable_version, **values)
        if version is None:
            raise NotConverted
        return int(version)

    async def choose_embedding(self, model: str, dims: int, told_at: datetime) -> None:
        """Records the model that the workspace's new documents are embedded with; the latest choice wins."""
        await self.run(DocumentSql.choose_embedding, model=model, dims=dims, told_at=told_at)


def _found(row: DocumentRow | None) -> DocumentRow:
    if row is None:
        raise DocumentNotFound
    return row


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
