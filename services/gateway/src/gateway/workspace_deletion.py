"""Deletes a workspace everywhere, and keeps the proof: one receipt per service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, Event, WorkspaceDeleted, WorkspacePurged
from contracts.gateway import WorkspaceDeletion
from contracts.ingestion import StoreReceipt
from contracts.registry import CONFIRM_WORKSPACE_DELETION, GATEWAY
from gateway import store
from gateway.caller import Authenticated
from gateway.errors import LastAdminKey, NameNotConfirmed, UnknownDeletion, UnknownWorkspace
from gateway.store import SQL
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database
from service_kit.stream_erasure import count_events, erase_events
from service_kit.streams import dead_letters

STREAMS = [name for stream in (DOCUMENTS, TURNS) for name in (stream, dead_letters(stream))]
RECEIPTS = "gateway_workspace_receipt"
LOCK = "SELECT pg_advisory_xact_lock(hashtext('gateway/delete_workspace'))"
FIRST_AGAIN_SECONDS, LONGEST_AGAIN_SECONDS = 15.0, 600.0
TICK_SECONDS = 5.0


@dataclass(frozen=True)
class DeletionRow:
    workspace_id: UUID
    requested_by: UUID
    requested_at: datetime
    completed_at: datetime | None


class WorkspaceDeletions:
    """`settle_seconds` after the request nothing that was admitted before it is under way any more."""

    def __init__(
        self, database: Database, redis: Redis, notifications: Notifications, outbox: Outbox, settle_seconds: float
    ) -> None:
        self.database, self.redis, self.notifications, self.outbox = database, redis, notifications, outbox
        self.settle_seconds = settle_seconds

    async def delete(
        self, caller: Authenticated, workspace_id: UUID, confirmed_name: str, timeout: float
    ) -> WorkspaceDeletion:
        """From its commit on no key of the workspace opens anything. Waits up to `timeout` seconds for the receipts.

        Raises UnknownWorkspace, NeedsOwner, NameNotConfirmed and LastAdminKey.
        """
        caller.must_own(workspace_id)
        async with self.database.system() as connection:  # whether keys are left is a question about all workspaces
            await connection.execute(LOCK)  # two deletions at once must not each count on the other's keys
            if not await store.lock_workspace(connection, workspace_id):
                raise UnknownWorkspace
            workspace = await store.find_workspace(connection, workspace_id)
            if workspace is None or workspace.name != confirmed_name:
                raise NameNotConfirmed
            if not await store.has_admin_key(connection, outside=workspace_id):
                raise LastAdminKey
            await self._request(connection, workspace_id, caller.user.id)
        return await self._until_complete(workspace_id, timeout)

    async def receipt(self, caller: Authenticated, workspace_id: UUID) -> WorkspaceDeletion:
        """For administrators and for who deleted it; raises UnknownDeletion."""
        row, receipt = await self._read(workspace_id)
        if not caller.is_admin and caller.user.id != row.requested_by:
            raise UnknownDeletion
        return receipt

    async def confirm(self, event: Event) -> None:
        """`workspace.purged`: a service tells the sum of what it removed, and what it counts now."""
        data = WorkspacePurged.model_validate(event.data)
        values = {
            "workspace_id": event.workspace_id,
            "service": data.service,
            "removed": Jsonb(data.removed),
            "remaining": Jsonb(data.remaining),
            "settle": self.settle_seconds,
            "gateway": GATEWAY,
        }
        async with self.database.workspace(event.workspace_id) as connection:
            await connection.execute(SQL["lock_deletion"], values)
            if not (await connection.execute(SQL["confirm_purge"], values)).rowcount:
                return
            cursor = await connection.execute(SQL["settle_deletion"], values)
            is_settled = (await cursor.fetchone() or (False,))[0]
        if is_settled:
            await self._erase_events(event.workspace_id)

    async def _erase_events(self, workspace_id: UUID) -> None:
        """Nobody is to read them any more. A crash before the end makes the confirmation come again."""
        removed = sum([await erase_events(self.redis, stream, workspace_id) for stream in STREAMS])
        remaining = sum([await count_events(self.redis, stream, workspace_id) for stream in STREAMS])
        values = {"workspace_id": workspace_id, "removed": removed, "remaining": remaining, "gateway": GATEWAY}
        async with self.database.workspace(workspace_id) as connection:
            await connection.execute(SQL["add_stream_entries"], values)

    async def run(self) -> None:
        """Announces again what is not settled, until cancelled: a background task, safe in several replicas."""
        while True:
            await self.announce_due()
            await asyncio.sleep(TICK_SECONDS)

    async def announce_due(self) -> int:
        """Returns how many deletions were announced again."""
        async with self.database.system() as connection:
            values = {"first": FIRST_AGAIN_SECONDS, "longest": LONGEST_AGAIN_SECONDS}
            rows = await (await connection.execute(SQL["due_announcements"], values)).fetchall()
            for (workspace_id,) in rows:
                await self.outbox.write(connection, workspace_id, WorkspaceDeleted(), str(workspace_id))
        return len(rows)

    async def _request(self, connection: Connection, workspace_id: UUID, requested_by: UUID) -> None:
        values: dict[str, Any] = {
            "workspace_id": workspace_id,
            "requested_by": requested_by,
            "again": FIRST_AGAIN_SECONDS,
            "services": [GATEWAY, *CONFIRM_WORKSPACE_DELETION],
        }
        await connection.execute(SQL["insert_deletion"], values)
        await connection.execute(SQL["insert_receipts"], values)
        removed = await _counts(connection, "remove_workspace", workspace_id)
        removed["workspace"] = (
            await connection.execute("DELETE FROM workspace WHERE id = %(workspace_id)s", values)
        ).rowcount
        own = {
            "workspace_id": workspace_id,
            "service": GATEWAY,
            "removed": Jsonb(removed),
            "remaining": Jsonb(await _counts(connection, "count_workspace", workspace_id)),
        }
        await connection.execute(SQL["confirm_purge"], own)
        await self.outbox.write(connection, workspace_id, WorkspaceDeleted(), str(workspace_id))

    async def _until_complete(self, workspace_id: UUID, timeout: float) -> WorkspaceDeletion:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        async with self.notifications.subscribe(RECEIPTS, str(workspace_id)) as confirmed:
            while True:
                _, receipt = await self._read(workspace_id)
                left = deadline - loop.time()
                if receipt.completed_at or left <= 0 or not await confirmed.wait(left):
                    return receipt

    async def _read(self, workspace_id: UUID) -> tuple[DeletionRow, WorkspaceDeletion]:
        values = {"workspace_id": workspace_id}
        async with self.database.workspace(workspace_id) as connection:
            async with connection.cursor(row_factory=class_row(DeletionRow)) as cursor:
                row = await (await cursor.execute(SQL["find_deletion"], values)).fetchone()
            async with connection.cursor(row_factory=dict_row) as receipts:
                services = await (await receipts.execute(SQL["list_receipts"], values)).fetchall()
        if row is None:
            raise UnknownDeletion
        return row, WorkspaceDeletion(
            workspace_id=workspace_id,
            requested_at=row.requested_at,
            completed_at=row.completed_at,
            pending=[one["service"] for one in services if one["confirmed_at"] is None],
            services=[StoreReceipt.model_validate(one) for one in services if one["confirmed_at"] is not None],
        )


async def _counts(connection: Connection, statement: str, workspace_id: UUID) -> dict[str, int]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        row = await (await cursor.execute(SQL[statement], {"workspace_id": workspace_id})).fetchone()
    return dict(row or {})
