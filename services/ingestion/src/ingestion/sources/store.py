"""Reads and writes sources and their synchronisations in the caller's transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from contracts.sources import (
    MAX_LISTED_CHANGES,
    OnRemoved,
    Source,
    SourceCreate,
    Sync,
    SyncAction,
    SyncChange,
    SyncStatus,
    SyncTrigger,
)
from ingestion.sources.errors import SourceNotFound, SyncNotFound
from ingestion.sources.statements import SQL
from service_kit.postgres import Connection
from service_kit.tracing import outgoing_headers

Before = tuple[datetime | None, UUID | None]


@dataclass(frozen=True)
class SyncRow:
    id: UUID
    workspace_id: UUID
    source_id: UUID
    status: SyncStatus
    trigger: SyncTrigger
    dry_run: bool
    seen: int
    added: int
    changed: int
    removed: int
    unchanged: int
    refused: int
    excluded: int
    bytes: int
    attempts: int
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    worker: str | None
    error_class: str | None
    error_message: str | None

    @property
    def changes_left_out(self) -> int:
        return max(self.added + self.changed + self.removed + self.refused - MAX_LISTED_CHANGES, 0)

    def resource(self) -> Sync:
        return Sync.model_validate(self, from_attributes=True)


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
class ChangeRow:
    position: int
    action: SyncAction
    path: str
    document_id: UUID | None
    file_size: int | None
    message: str | None

    def resource(self) -> SyncChange:
        return SyncChange.model_validate(self, from_attributes=True)


async def insert(connection: Connection, workspace_id: UUID, source_id: UUID, new: SourceCreate) -> SourceRow | None:
    """None when there is, or was, a source with this id."""
    values = {
        "workspace_id": workspace_id,
        "id": source_id,
        "name": new.name,
        "kind": new.config.kind,
        "config": Jsonb(new.config.model_dump(mode="json")),
        "every_seconds": new.every_seconds,
        "on_removed": new.on_removed,
        "stale_after_seconds": new.stale_after_seconds,
    }
    async with connection.cursor(row_factory=class_row(SourceRow)) as cursor:
        await cursor.execute(SQL["insert_source"], values)
        return await cursor.fetchone()


async def update(connection: Connection, source: SourceRow, changes: dict[str, Any]) -> SourceRow:
    """The locked source with these columns changed."""
    values = {**asdict(source), **changes}
    async with connection.cursor(row_factory=class_row(SourceRow)) as cursor:
        await cursor.execute(SQL["update_source"], {**values, "config": Jsonb(values["config"])})
        row = await cursor.fetchone()
    assert row is not None
    return row


async def find(connection: Connection, workspace_id: UUID, source_id: UUID, *, for_update: bool = False) -> SourceRow:
    """Raises SourceNotFound, also when the source is deleted. `for_update` locks it."""
    statement = "lock_source" if for_update else "find_source"
    async with connection.cursor(row_factory=class_row(SourceRow)) as cursor:
        await cursor.execute(SQL[statement], {"workspace_id": workspace_id, "source_id": source_id})
        row = await cursor.fetchone()
    if row is None:
        raise SourceNotFound
    return row


async def page(connection: Connection, workspace_id: UUID, before: Before, limit: int) -> list[SourceRow]:
    """Newest first."""
    values = {"workspace_id": workspace_id, "before": before[0], "before_id": before[1], "limit": limit}
    async with connection.cursor(row_factory=class_row(SourceRow)) as cursor:
        await cursor.execute(SQL["list_sources"], values)
        return await cursor.fetchall()


async def resources(connection: Connection, workspace_id: UUID, rows: list[SourceRow]) -> list[Source]:
    """With the number of their documents and their newest synchronisation."""
    values = {"workspace_id": workspace_id, "source_ids": [row.id for row in rows]}
    counts: dict[UUID, int] = dict(await (await connection.execute(SQL["count_documents"], values)).fetchall())
    async with connection.cursor(row_factory=class_row(SyncRow)) as cursor:
        await cursor.execute(SQL["last_syncs"], values)
        last = {sync.source_id: sync for sync in await cursor.fetchall()}
    return [row.resource(counts.get(row.id, 0), last.get(row.id)) for row in rows]


async def queue_sync(
    connection: Connection, workspace_id: UUID, source_id: UUID, trigger: SyncTrigger, *, dry_run: bool = False
) -> SyncRow:
    """A new one, or the one that waits already; when a person asks, that begins at once."""
    statements = ["find_waiting_rehearsal", "queue_sync"] if dry_run else ["queue_sync"]
    values = {
        "workspace_id": workspace_id,
        "id": uuid4(),
        "source_id": source_id,
        "trigger": trigger,
        "dry_run": dry_run,
        "traceparent": outgoing_headers().get("traceparent"),
    }
    row = None
    async with connection.cursor(row_factory=class_row(SyncRow)) as cursor:
        while row is None:
            await cursor.execute(SQL[statements.pop(0)], values)
            row = await cursor.fetchone()
    return row


async def find_sync(connection: Connection, workspace_id: UUID, source_id: UUID, sync_id: UUID) -> SyncRow:
    """Raises SyncNotFound."""
    values = {"workspace_id": workspace_id, "source_id": source_id, "sync_id": sync_id}
    async with connection.cursor(row_factory=class_row(SyncRow)) as cursor:
        await cursor.execute(SQL["find_sync"], values)
        row = await cursor.fetchone()
    if row is None:
        raise SyncNotFound
    return row


async def syncs(
    connection: Connection, workspace_id: UUID, source_id: UUID, before: Before, limit: int
) -> list[SyncRow]:
    """Newest first."""
    values = {"workspace_id": workspace_id, "source_id": source_id, "before": before[0], "before_id": before[1]}
    async with connection.cursor(row_factory=class_row(SyncRow)) as cursor:
        await cursor.execute(SQL["list_syncs"], {**values, "limit": limit})
        return await cursor.fetchall()


async def changes(connection: Connection, workspace_id: UUID, sync_id: UUID, after: int, limit: int) -> list[ChangeRow]:
    """In the order in which they were made, from the one after the position `after`."""
    values = {"workspace_id": workspace_id, "sync_id": sync_id, "after": after, "limit": limit}
    async with connection.cursor(row_factory=class_row(ChangeRow)) as cursor:
        await cursor.execute(SQL["list_changes"], values)
        return await cursor.fetchall()


async def cancel(connection: Connection, workspace_id: UUID, source_id: UUID, sync_id: UUID) -> None:
    """Whoever holds it learns so by its next heartbeat. One that has ended stays as it is."""
    values = {"workspace_id": workspace_id, "source_id": source_id, "sync_id": sync_id}
    await connection.execute(SQL["cancel_sync"], values)
