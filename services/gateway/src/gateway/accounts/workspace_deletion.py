"""Deletes a workspace in all services and keeps one receipt per service as proof."""

from __future__ import annotations

import asyncio
from uuid import UUID

from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, Event, WorkspaceDeleted, WorkspacePurged
from contracts.gateway import WorkspaceDeletion
from contracts.registry import CONFIRM_WORKSPACE_DELETION, GATEWAY
from gateway.accounts.administrators import Administrators
from gateway.accounts.caller import Authenticated
from gateway.accounts.deletions import Deletion, DeletionRow, DueDeletions
from gateway.accounts.workspaces import Workspaces
from gateway.errors import NameNotConfirmed, UnknownDeletion, UnknownWorkspace
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database
from service_kit.stream_erasure import count_events, erase_events
from service_kit.streams import dead_letters
from service_kit.waiting import until

STREAMS = [name for stream in (DOCUMENTS, TURNS) for name in (stream, dead_letters(stream))]
RECEIPTS = "gateway_workspace_receipt"
FIRST_AGAIN_SECONDS, LONGEST_AGAIN_SECONDS = 15.0, 600.0
TICK_SECONDS = 5.0


class WorkspaceDeletions:
    """Deletes workspaces. `settle_seconds` after a deletion, no request admitted before it is still running."""

    def __init__(
        self,
        database: Database,
        administrators: Administrators,
        redis: Redis,
        notifications: Notifications,
        outbox: Outbox,
        settle_seconds: float,
    ) -> None:
        self.administrators = administrators
        self.database, self.redis, self.notifications, self.outbox = database, redis, notifications, outbox
        self.settle_seconds = settle_seconds

    async def delete(
        self, caller: Authenticated, workspace_id: UUID, confirmed_name: str, timeout: float
    ) -> WorkspaceDeletion:
        """Ends all access to the workspace, then waits up to `timeout` seconds for the receipts.

        Raises UnknownWorkspace, NeedsOwner, NameNotConfirmed and LastAdminKey.
        """
        caller.must_own(workspace_id)
        async with self.database.system() as connection:  # whether anyone keeps access depends on all workspaces
            await self.administrators.lock(connection)
            workspaces = Workspaces(connection)
            if not await workspaces.lock(workspace_id):
                raise UnknownWorkspace
            workspace = await workspaces.find(workspace_id)
            if workspace is None or workspace.name != confirmed_name:
                raise NameNotConfirmed
            await self.administrators.must_get_in_outside(connection, workspace_id)
            await self._request(connection, workspace_id, caller.user.id)
        return await self._until_complete(workspace_id, timeout)

    async def receipt(self, caller: Authenticated, workspace_id: UUID) -> WorkspaceDeletion:
        """Returns the receipt to administrators and to whoever deleted it; raises UnknownDeletion for others."""
        row, receipt = await self._read(workspace_id)
        if not caller.is_admin and caller.user.id != row.requested_by:
            raise UnknownDeletion
        return receipt

    async def is_deleted(self, workspace_id: UUID) -> bool:
        """Returns whether the workspace was deleted, however long ago."""
        async with self.database.workspace(workspace_id) as connection:
            return await Deletion(connection, workspace_id).find() is not None

    async def confirm(self, event: Event) -> None:
        """Handles `workspace.purged`, in which a service reports what it has deleted so far and what remains."""
        data = WorkspacePurged.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            deletion = Deletion(connection, event.workspace_id)
            await deletion.lock()
            if not await deletion.confirm(data.service, data.removed, data.remaining):
                return
            is_settled = await deletion.settle(self.settle_seconds)
        if is_settled:
            await self._delete_events(event.workspace_id)

    async def _delete_events(self, workspace_id: UUID) -> None:
        """Deletes the workspace's events from the streams. After a crash, the confirmation is redelivered."""
        removed = sum([await erase_events(self.redis, stream, workspace_id) for stream in STREAMS])
        remaining = sum([await count_events(self.redis, stream, workspace_id) for stream in STREAMS])
        async with self.database.workspace(workspace_id) as connection:
            await Deletion(connection, workspace_id).add_stream_entries(removed, remaining)

    async def run(self) -> None:
        """Announces unsettled deletions again, until cancelled. A background task that is safe in several replicas."""
        while True:
            await self.announce_due()
            await asyncio.sleep(TICK_SECONDS)

    async def announce_due(self) -> int:
        """Announces due deletions again; returns how many."""
        async with self.database.system() as connection:
            due = await DueDeletions(connection).claim(FIRST_AGAIN_SECONDS, LONGEST_AGAIN_SECONDS)
            for workspace_id in due:
                await self.outbox.write(connection, workspace_id, WorkspaceDeleted(), str(workspace_id))
        return len(due)

    async def _request(self, connection: Connection, workspace_id: UUID, requested_by: UUID) -> None:
        deletion, workspaces = Deletion(connection, workspace_id), Workspaces(connection)
        await deletion.insert(requested_by, FIRST_AGAIN_SECONDS, CONFIRM_WORKSPACE_DELETION)
        removed = await workspaces.delete(workspace_id)
        await deletion.confirm(GATEWAY, removed, await workspaces.count(workspace_id))
        await self.outbox.write(connection, workspace_id, WorkspaceDeleted(), str(workspace_id))

    async def _until_complete(self, workspace_id: UUID, timeout: float) -> WorkspaceDeletion:
        async def read() -> WorkspaceDeletion:
            return (await self._read(workspace_id))[1]

        return await until(
            self.notifications, RECEIPTS, workspace_id, read, lambda receipt: bool(receipt.completed_at), timeout
        )

    async def _read(self, workspace_id: UUID) -> tuple[DeletionRow, WorkspaceDeletion]:
        async with self.database.workspace(workspace_id) as connection:
            deletion = Deletion(connection, workspace_id)
            row = await deletion.find()
            if row is None:
                raise UnknownDeletion
            return row, await deletion.receipt(row)
