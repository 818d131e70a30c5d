"""The table of synchronisations, as API resources and as leased work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID, uuid4

from contracts.sources import (
    MAX_LISTED_CHANGES,
    OnRemoved,
    Sync,
    SyncAction,
    SyncChange,
    SyncStatus,
    SyncTrigger,
)
from ingestion.documents.rows import columns
from ingestion.sources.errors import SyncNotFound
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.tracing import outgoing_headers
from service_kit.work import WorkTable

Before = tuple[datetime | None, UUID | None]
LOST = "The worker was lost during this synchronisation."
SUPERSEDED = "The synchronisation that was waiting continues from here."
RENAMED = {"status": "state AS status", "worker": "lease_owner AS worker"}
ONE_AT_A_TIME = (
    "work.dry_run OR NOT EXISTS (SELECT FROM source_sync AS other WHERE other.workspace_id = work.workspace_id"
    " AND other.source_id = work.source_id AND other.state = 'running' AND NOT other.dry_run)"
)
ANOTHER_WAITS = (
    "NOT work.dry_run AND EXISTS (SELECT FROM source_sync AS other WHERE other.workspace_id = work.workspace_id"
    " AND other.source_id = work.source_id AND other.state = 'queued' AND NOT other.dry_run)"
)


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
class HeldSync:
    """A synchronisation that a worker holds, with its source. `place` is where the source was at its last success."""

    workspace_id: UUID
    id: UUID
    source_id: UUID
    lease_token: UUID
    trigger: SyncTrigger
    dry_run: bool
    attempts: int
    bytes: int
    traceparent: str | None
    config: dict[str, Any]
    on_removed: OnRemoved
    place: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "trigger", SyncTrigger(self.trigger))  # the database returns text
        object.__setattr__(self, "on_removed", OnRemoved(self.on_removed))


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


@dataclass(frozen=True)
class ListedChange:
    position: int
    action: str
    path: str


class SyncSql(
    Statements,
    file="syncs.sql",
    columns=", ".join(RENAMED.get(field.name, field.name) for field in fields(SyncRow)),
    change_columns=columns(ChangeRow),
):
    queue: LiteralString
    queue_due: LiteralString
    another_waits: LiteralString
    queue_watched: LiteralString
    waiting_dry_run: LiteralString
    find: LiteralString
    page: LiteralString
    newest: LiteralString
    cancel: LiteralString
    delete_of_source: LiteralString
    delete_old: LiteralString
    changes: LiteralString
    delete_refusals: LiteralString
    recover_changes: LiteralString
    earlier_changes: LiteralString
    insert_change: LiteralString


class Syncs(Repository):
    async def queue(self, source_id: UUID, trigger: SyncTrigger, *, dry_run: bool = False) -> SyncRow:
        """Returns a new synchronisation, or the one already waiting, which a user's request makes due at once."""
        if dry_run and (waiting := await self.one(SyncSql.waiting_dry_run, SyncRow, source_id=source_id)):
            return waiting
        row = await self.one(
            SyncSql.queue,
            SyncRow,
            id=uuid4(),
            source_id=source_id,
            trigger=trigger,
            dry_run=dry_run,
            traceparent=outgoing_headers().get("traceparent"),
        )
        assert row is not None
        return row

    async def queue_watched(self, source_id: UUID, since: datetime) -> bool:
        """Queues a synchronisation unless one is waiting or has started since; returns whether it did."""
        return bool(await self.run(SyncSql.queue_watched, source_id=source_id, since=since))

    async def find(self, source_id: UUID, sync_id: UUID) -> SyncRow:
        """Returns the synchronisation; raises SyncNotFound."""
        row = await self.one(SyncSql.find, SyncRow, source_id=source_id, sync_id=sync_id)
        if row is None:
            raise SyncNotFound
        return row

    async def page(self, source_id: UUID, before: Before, limit: int) -> list[SyncRow]:
        """Returns up to `limit` synchronisations of a source, newest first."""
        values = {"before": before[0], "before_id": before[1], "limit": limit}
        return await self.all(SyncSql.page, SyncRow, source_id=source_id, **values)

    async def newest(self, source_ids: Sequence[UUID]) -> dict[UUID, SyncRow]:
        """Returns the newest synchronisation of each source, without dry runs."""
        return {row.source_id: row for row in await self.all(SyncSql.newest, SyncRow, source_ids=source_ids)}

    async def cancel(self, source_id: UUID, sync_id: UUID) -> None:
        """Cancels a synchronisation that has not ended; its holder notices when it renews the lease."""
        await self.run(SyncSql.cancel, source_id=source_id, sync_id=sync_id)

    async def delete_of_source(self, source_id: UUID) -> None:
        await self.run(SyncSql.delete_of_source, source_id=source_id)

    async def delete_old(self, source_id: UUID, kept: int) -> None:
        await self.run(SyncSql.delete_old, source_id=source_id, kept=kept)

    async def changes(self, sync_id: UUID, after: int, limit: int) -> list[ChangeRow]:
        """Returns changes in the order in which they were made, starting after the position `after`."""
        return await self.all(SyncSql.changes, ChangeRow, sync_id=sync_id, after=after, limit=limit)

    async def resume_changes(self, held: HeldSync) -> list[ListedChange]:
        """Completes and returns the list of earlier attempts; deletes refusals, which are found again."""
        await self.run(SyncSql.delete_refusals, id=held.id)
        await self.run(SyncSql.recover_changes, id=held.id, lease_token=held.lease_token)
        return await self.all(SyncSql.earlier_changes, ListedChange, id=held.id)

    async def insert_changes(self, held: HeldSync, rows: Sequence[dict[str, object]]) -> None:
        """Appends to the list if the lease is still held."""
        await self.many(
            SyncSql.insert_change, ({"id": held.id, "lease_token": held.lease_token, **row} for row in rows)
        )


class AllSyncs(SystemRepository):
    async def queue_due(self, limit: int) -> int:
        """Queues a synchronisation of up to `limit` sources that are due; returns how many."""
        return await self.run(SyncSql.queue_due, limit=limit)

    async def another_waits(self, besides: UUID) -> bool:
        """Returns whether a synchronisation of a workspace other than `besides` is due."""
        return bool(await self.value(SyncSql.another_waits, besides=besides))


def sync_work(max_losses: int) -> WorkTable[HeldSync]:
    """Describes synchronisations as leased work; they fail after `max_losses` lost workers."""
    of_source = "FROM source WHERE source.workspace_id = work.workspace_id AND source.id = work.source_id"
    is_over = f"({ANOTHER_WAITS} OR work.losses + 1 >= {max_losses})"
    return WorkTable(
        name="source_sync",
        row=HeldSync,
        channel="ingestion_queue",
        computed={name: f"(SELECT source.{name} {of_source})" for name in ("config", "on_removed", "place")},
        claimable=ONE_AT_A_TIME,
        on_claim="started_at = coalesce(work.started_at, now()), heartbeat_at = now(), error_class = NULL, "
        "error_message = NULL",
        on_finish="finished_at = now(), heartbeat_at = now()",
        on_loss=f"state = CASE WHEN {is_over} THEN 'failed' ELSE 'queued' END, losses = work.losses + 1, "
        f"finished_at = CASE WHEN {is_over} THEN now() END, error_class = 'worker-lost', error_message = '{LOST}'",
    )
