"""Deletes all data of a deleted workspace from a service, and proves it by counting.

The event only marks the workspace as deleted (`deleted_workspace`), which stops all writing to it at once: the database
refuses every row from then on. A background task then deletes the data in small transactions, so that other events do
not wait for it and a crash costs at most the last transaction.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from uuid import UUID

from psycopg import sql

from contracts.events import Event, WorkspaceDeleted, WorkspacePurged
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.streams import Handler

log = logging.getLogger(__name__)
ROWS_AT_ONCE = 20_000
LONGEST_WAIT_SECONDS = 15.0


class WorkspacePurgeSql(Statements, file="workspaces.sql"):
    is_deleted: str
    waiting: str
    add_removed: str
    finish: str
    tables: str


@dataclass(frozen=True)
class WorkspaceTable:
    """A table with rows of workspaces, and the tables that refer to it."""

    name: str
    referring: list[str]


class DeletedWorkspaces(SystemRepository):
    """The workspaces waiting to be purged, and the tables to purge."""

    async def waiting(self) -> list[UUID]:
        return await self.values(WorkspacePurgeSql.waiting)

    async def tables(self) -> list[WorkspaceTable]:
        return await self.all(WorkspacePurgeSql.tables, WorkspaceTable)


class DeletedWorkspace(Repository):
    """The mark that a workspace is deleted, with the counts of what was deleted in it."""

    async def is_marked(self) -> bool:
        return bool(await self.value(WorkspacePurgeSql.is_deleted))

    async def add_removed(self, kind: str, count: int) -> None:
        await self.run(WorkspacePurgeSql.add_removed, kind=kind, count=count)

    async def finish(self) -> dict[str, int]:
        """Marks the purge as done; returns the counts."""
        return dict(await self.value(WorkspacePurgeSql.finish) or {})


@dataclass(frozen=True)
class Erased:
    """Counts by kind in a store other than the service's tables: what was deleted, and what remains."""

    removed: Mapping[str, int] = field(default_factory=dict)
    remaining: Mapping[str, int] = field(default_factory=dict)


Erasure = Callable[[UUID], Awaitable[Erased]]


class WorkspacePurge:
    """Provides `around` for the consumers' handlers, and `run` as a background task that listens on `channel`.

    `before` and `after` erase what the service stores elsewhere: before its rows are deleted (which may be needed to
    find it), and after (when nothing that needs a row can write there any more). Both may be called again at any time.
    """

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        schema: str,
        before: Sequence[Erasure] = (),
        after: Sequence[Erasure] = (),
        rows_at_once: int = ROWS_AT_ONCE,
    ) -> None:
        self.database, self.outbox, self.schema = database, outbox, schema
        self.before, self.after, self.rows_at_once = before, after, rows_at_once
        self.channel = f"{schema}_workspace_deleted"

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {WorkspaceDeleted.event_type: self.mark}

    def around(self, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        """Returns the handlers and the purge's own; the given ones no longer see events of deleted workspaces."""
        return {kind: self._unless_deleted(handler) for kind, handler in handlers.items()} | dict(self.handlers)

    def _unless_deleted(self, handler: Handler) -> Handler:
        async def handle(event: Event) -> None:
            async with self.database.workspace(event.workspace_id) as connection:
                is_deleted = await DeletedWorkspace(connection, event.workspace_id).is_marked()
            if not is_deleted:
                await handler(event)

        return handle

    async def mark(self, event: Event) -> None:
        """Handles `workspace.deleted`: once committed, nothing is written to the workspace. Each event is confirmed."""
        async with self.database.workspace(event.workspace_id) as connection:
            await connection.execute("SELECT delete_workspace(%s)", (event.workspace_id,))

    async def run(self, notifications: Notifications) -> None:
        """Runs until cancelled. A failed purge is retried and does not hold up others."""
        async with notifications.subscribe(self.channel) as wakeups:
            while True:
                for workspace_id in await self._waiting():
                    try:
                        await self.purge(workspace_id)
                    except Exception:  # the boundary of one purge: its row stays, so it will be retried
                        log.exception("workspace not purged yet", extra={"workspace_id": str(workspace_id)})
                await wakeups.wait(LONGEST_WAIT_SECONDS)

    async def purge(self, workspace_id: UUID) -> bool:
        """Deletes everything, counts and confirms; returns False if another replica is doing so."""
        async with self.database.system() as claim:
            key = f"{self.schema}/purge/{workspace_id}"
            cursor = await claim.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
            if not (await cursor.fetchone() or (False,))[0]:
                return False
            remaining = await self._erase(workspace_id, self.before)
            tables = await self._tables()
            for table in tables:
                while await self._delete_some(workspace_id, table) == self.rows_at_once:
                    pass
            remaining |= await self._erase(workspace_id, self.after)
            await self._confirm(workspace_id, tables, remaining)
        return True

    async def _waiting(self) -> list[UUID]:
        async with self.database.system() as connection:
            return await DeletedWorkspaces(connection).waiting()

    async def _tables(self) -> list[str]:
        """Returns the tables, each after those that refer to it. Raises CycleError if there is no such order."""
        async with self.database.system() as connection:
            tables = await DeletedWorkspaces(connection).tables()
        owned = {table.name for table in tables}
        referring = {table.name: owned.intersection(table.referring) for table in tables}
        return list(TopologicalSorter(referring).static_order())

    async def _delete_some(self, workspace_id: UUID, table: str) -> int:
        statement = sql.SQL(
            "DELETE FROM {0} WHERE workspace_id = %(workspace_id)s AND ctid = ANY(ARRAY("
            "SELECT ctid FROM {0} WHERE workspace_id = %(workspace_id)s LIMIT %(limit)s))"
        ).format(sql.Identifier(table))
        async with self.database.workspace(workspace_id) as connection:
            values = {"workspace_id": workspace_id, "limit": self.rows_at_once}
            count = (await connection.execute(statement, values)).rowcount
            await DeletedWorkspace(connection, workspace_id).add_removed(table, count)
        return count

    async def _erase(self, workspace_id: UUID, erasures: Sequence[Erasure]) -> dict[str, int]:
        """Runs the erasures; returns the remaining counts by kind."""
        remaining: Counter[str] = Counter()
        for erase in erasures:
            erased = await erase(workspace_id)
            remaining.update(erased.remaining)
            async with self.database.workspace(workspace_id) as connection:
                for kind, count in erased.removed.items():
                    await DeletedWorkspace(connection, workspace_id).add_removed(kind, count)
        return dict(remaining)

    async def _confirm(self, workspace_id: UUID, tables: Sequence[str], elsewhere: Mapping[str, int]) -> None:
        async with self.database.workspace(workspace_id) as connection:
            remaining = dict(elsewhere)
            for table in tables:
                count = sql.SQL("SELECT count(*) FROM {} WHERE workspace_id = %s").format(sql.Identifier(table))
                remaining[table] = int((await (await connection.execute(count, (workspace_id,))).fetchone() or (0,))[0])
            removed = await DeletedWorkspace(connection, workspace_id).finish()
            purged = WorkspacePurged(service=self.outbox.source, removed=removed, remaining=remaining)
            await self.outbox.write(connection, workspace_id, purged, str(workspace_id))
