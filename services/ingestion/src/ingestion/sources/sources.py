"""The table of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.sources import OnRemoved, Source, SourceCreate
from ingestion.documents.rows import columns
from ingestion.sources.errors import SourceNotFound
from ingestion.sources.plan import KnownFile
from ingestion.sources.syncs import Before, SyncRow, Syncs
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements


@dataclass(frozen=True)
class SourceRow:
    id: UUID
    workspace_id: UUID
    name: str
    config: dict[str, Any]
    every_seconds: int | None
    on_removed: OnRemoved
    stale_after_seconds: int | None
    paused: bool
    version: int
    created_at: datetime
    updated_at: datetime
    next_sync_at: datetime | None

    def resource(self, documents: int, last_sync: SyncRow | None) -> Source:
        shown = {**asdict(self), "documents": documents, "last_sync": last_sync.resource() if last_sync else None}
        if self.paused:
            shown["next_sync_at"] = None
        return Source.model_validate(shown)


@dataclass(frozen=True)
class WatchedFolder:
    workspace_id: UUID
    id: UUID
    config: dict[str, Any]


@dataclass(frozen=True)
class SourceKey:
    workspace_id: UUID
    id: UUID


@dataclass(frozen=True)
class SourceDocumentCount:
    source_id: UUID
    documents: int


class SourceSql(Statements, file="sources.sql", columns=columns(SourceRow)):
    insert: LiteralString
    update: LiteralString
    find: LiteralString
    lock: LiteralString
    page: LiteralString
    count_documents: LiteralString
    abandon: LiteralString
    was_deleted: LiteralString
    lock_documents: LiteralString
    keep_as_uploads: LiteralString
    delete_origins: LiteralString
    known_files: LiteralString
    touch_files: LiteralString
    succeeded: LiteralString
    failed: LiteralString
    unseen: LiteralString
    mark_stale: LiteralString
    mark_documents_stale: LiteralString
    watched: LiteralString


class Sources(Repository):
    async def insert(self, source_id: UUID, new: SourceCreate) -> SourceRow | None:
        """Inserts a source; returns None if one with this id exists or existed."""
        return await self.one(
            SourceSql.insert,
            SourceRow,
            id=source_id,
            name=new.name,
            kind=new.config.kind,
            config=Jsonb(new.config.model_dump(mode="json")),
            every_seconds=new.every_seconds,
            on_removed=new.on_removed,
            stale_after_seconds=new.stale_after_seconds,
        )

    async def update(self, source: SourceRow, changes: dict[str, Any]) -> SourceRow:
        """Updates these columns of a locked source."""
        values = {**asdict(source), **changes}
        row = await self.one(SourceSql.update, SourceRow, **{**values, "config": Jsonb(values["config"])})
        assert row is not None
        return row

    async def find(self, source_id: UUID) -> SourceRow:
        """Returns the source; raises SourceNotFound, also if it is deleted."""
        return _found(await self.one(SourceSql.find, SourceRow, source_id=source_id))

    async def lock(self, source_id: UUID) -> SourceRow:
        """Locks the source; raises SourceNotFound, also if it is deleted."""
        return _found(await self.one(SourceSql.lock, SourceRow, source_id=source_id))

    async def page(self, before: Before, limit: int) -> list[SourceRow]:
        """Returns up to `limit` sources, newest first."""
        return await self.all(SourceSql.page, SourceRow, before=before[0], before_id=before[1], limit=limit)

    async def resources(self, rows: Sequence[SourceRow]) -> list[Source]:
        """Returns the API resources of sources, with their number of documents and newest synchronisation."""
        source_ids = [row.id for row in rows]
        counts = await self.all(SourceSql.count_documents, SourceDocumentCount, source_ids=source_ids)
        documents = {count.source_id: count.documents for count in counts}
        newest = await Syncs(self.connection, self.workspace_id).newest(source_ids)
        return [row.resource(documents.get(row.id, 0), newest.get(row.id)) for row in rows]

    async def abandon(self, source_id: UUID) -> list[UUID]:
        """Deletes a source and keeps its documents as uploads; returns these, locked. Raises SourceNotFound."""
        if not await self.run(SourceSql.abandon, source_id=source_id):
            raise SourceNotFound
        document_ids = await self.values(SourceSql.lock_documents, source_id=source_id)
        await self.run(SourceSql.keep_as_uploads, document_ids=document_ids)
        await self.run(SourceSql.delete_origins, source_id=source_id)
        return document_ids

    async def was_deleted(self, source_id: UUID) -> bool:
        """Returns whether the source was deleted together with its documents."""
        return bool(await self.value(SourceSql.was_deleted, source_id=source_id))

    async def known_files(self, source_id: UUID) -> dict[str, KnownFile]:
        """Returns the files taken in from the source before, by path."""
        return {row.path: row for row in await self.all(SourceSql.known_files, KnownFile, source_id=source_id)}

    async def touch_files(self, fingerprints: Sequence[tuple[UUID, str | None]]) -> None:
        """Records new fingerprints of files whose content is unchanged."""
        ids, values = [one[0] for one in fingerprints], [one[1] for one in fingerprints]
        await self.run(SourceSql.touch_files, ids=ids, fingerprints=values)

    async def succeeded(self, source_id: UUID, place: str | None) -> None:
        await self.run(SourceSql.succeeded, source_id=source_id, place=place)

    async def failed(self, source_id: UUID) -> None:
        await self.run(SourceSql.failed, source_id=source_id)

    async def mark_stale(self, source_id: UUID) -> int:
        """Marks an unseen source and the documents that come only from it as stale; returns how many documents."""
        if not await self.run(SourceSql.mark_stale, source_id=source_id):
            return 0
        return await self.run(SourceSql.mark_documents_stale, source_id=source_id)


class AllSources(SystemRepository):
    async def unseen(self, limit: int) -> list[SourceKey]:
        """Returns sources whose last successful synchronisation is longer ago than they allow."""
        return await self.all(SourceSql.unseen, SourceKey, limit=limit)

    async def watched(self) -> list[WatchedFolder]:
        return await self.all(SourceSql.watched, WatchedFolder)


def _found(row: SourceRow | None) -> SourceRow:
    if row is None:
        raise SourceNotFound
    return row
