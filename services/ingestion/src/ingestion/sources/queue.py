"""Synchronisations as work: what may begin, what a worker holds, and what a dead one held."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import UniqueViolation
from psycopg.rows import class_row

from contracts.sources import OnRemoved, SyncTrigger
from ingestion.sources.statements import SQL
from service_kit.postgres import Connection, Database

LOST = "The worker stopped without a sign during this synchronisation."
SUPERSEDED = "The worker was stopped; the synchronisation that waited goes on from here."


@dataclass(frozen=True)
class SyncKey:
    workspace_id: UUID
    sync_id: UUID
    traceparent: str | None


@dataclass(frozen=True)
class HeldSync:
    """A synchronisation that a worker holds, with its source: nothing is written for it without its `lease`.

    `place`: what the source was found on when it last succeeded.
    """

    workspace_id: UUID
    id: UUID
    source_id: UUID
    lease: UUID
    trigger: SyncTrigger
    dry_run: bool
    attempts: int
    bytes: int
    config: dict[str, Any]
    on_removed: OnRemoved
    place: str | None

    def __post_init__(self) -> None:
        # The database gives text.
        object.__setattr__(self, "trigger", SyncTrigger(self.trigger))
        object.__setattr__(self, "on_removed", OnRemoved(self.on_removed))

    @property
    def key(self) -> dict[str, Any]:
        """The parameters that every guarded statement has."""
        return {"workspace_id": self.workspace_id, "id": self.id, "lease": self.lease, "source_id": self.source_id}


@dataclass
class Counts:
    """What a synchronisation shows of its progress."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    refused: int = 0
    excluded: int = 0
    bytes: int = 0


class SyncLost(Exception):
    """It was cancelled, its source was deleted, or another worker has it: nothing more may be done for it."""


async def claim_due(connection: Connection, limit: int, resend_after: float) -> list[SyncKey]:
    """Marks up to `limit` that may begin as sent, and returns them. Needs the system scope.

    One that was sent is given again after `resend_after` seconds if no worker took it; a second message is harmless.
    """
    async with connection.cursor(row_factory=class_row(SyncKey)) as cursor:
        await cursor.execute(SQL["claim_syncs"], {"limit": limit, "resend_after": resend_after})
        return await cursor.fetchall()


async def recover_lost(connection: Connection, lease_seconds: float, max_losses: int) -> int:
    """Queues again what is held without a heartbeat; returns how many were found. Needs the system scope."""
    values = {"lease": lease_seconds, "max_losses": max_losses, "message": LOST}
    return (await connection.execute(SQL["recover_syncs"], values)).rowcount


class Leases:
    """What a worker writes about the synchronisations that it holds. `worker` is shown to users."""

    def __init__(self, database: Database, worker: str) -> None:
        self.database, self.worker = database, worker

    async def take(self, workspace_id: UUID, sync_id: UUID) -> HeldSync | None:
        """None when it is not queued, not due, or another one of the same source runs."""
        values = {"workspace_id": workspace_id, "sync_id": sync_id, "lease": uuid4(), "worker": self.worker}
        try:
            async with (
                self.database.workspace(workspace_id) as connection,
                connection.cursor(row_factory=class_row(HeldSync)) as cursor,
            ):
                await cursor.execute(SQL["lease_sync"], values)
                return await cursor.fetchone()
        except UniqueViolation:  # another one of the same source began in the same moment
            return None

    async def beat(self, held: HeldSync, counts: Counts) -> bool:
        """Shows that the worker lives, and how far it is; False when the lease is lost."""
        async with self.database.workspace(held.workspace_id) as connection:
            return (await connection.execute(SQL["beat_sync"], {**held.key, **asdict(counts)})).rowcount == 1

    async def release(self, held: HeldSync, delay: float, error_class: str | None, message: str | None) -> None:
        """Back to the queue, for `delay` seconds; with a reason it counts as an attempt."""
        values = {"delay": delay, "error_class": error_class, "error_message": message, "superseded": SUPERSEDED}
        async with self.database.workspace(held.workspace_id) as connection:
            await connection.execute(SQL["release_sync"], {**held.key, **values, "uncount": 0 if error_class else 1})
