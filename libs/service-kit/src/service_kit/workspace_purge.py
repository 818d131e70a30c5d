"""Removes a deleted workspace from a service, and proves it by counting.

The event only marks the workspace as deleted (`deleted_workspace`), which ends all writing to it at once: the database
refuses every row from then on. A background task then removes what there is, in small transactions, so that neither the
other events wait for it nor a crash costs more than the last of them.
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
from service_kit.queries import load
from service_kit.streams import Handler

log = logging.getLogger(__name__)
QUERIES = load("service_kit")
ROWS_AT_ONCE = 20_000
LONGEST_WAIT_SECONDS = 15.0


@dataclass(frozen=True)
class Erased:
    """What was removed from another store than the service's tables, and what is still counted there, by kind."""

    removed: Mapping[str, int] = field(default_factory=dict)
    remaining: Mapping[str, int] = field(default_factory=dict)


Erasure = Callable[[UUID], Awaitable[Erased]]


class WorkspacePurge:
    """`around` for the consumers' handlers, and `run` as a background task listening on `channel`.

    `before` and `after` erase what the service keeps elsewhere: before its rows go (which may be needed to find it),
    and after (nobody who needs a row to work can write there any more). Both may be called again at any time.
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
        return {WorkspaceDeleted.event_type: self.ask}

    def around(self, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        """The handlers with the purge's own; the others are spared the events of deleted workspaces."""
        return {kind: self._unless_deleted(handler) for kind, handler in handlers.items()} | dict(self.handlers)

    def _unless_deleted(self, handler: Handler) -> Handler:
        async def handle(event: Event) -> None:
            async with self.database.workspace(event.workspace_id) as connection:
                cursor = await connection.execute(
                    "SELECT EXISTS (SELECT FROM deleted_workspace WHERE workspace_id = %s)", (event.workspace_id,)
                )
                is_deleted = (await cursor.fetchone() or (False,))[0]
            if not is_deleted:
                await handler(event)

        return handle

    async def ask(self, event: Event) -> None:
        """`workspace.deleted`: from its commit on nothing is written to the workspace. Each one is answered."""
        async with self.database.workspace(event.workspace_id) as connection:
            await connection.execute("SELECT delete_workspace(%s)", (event.workspace_id,))

    async def run(self, notifications: Notifications) -> None:
        """Runs until cancelled. A purge that fails is tried again, and keeps no other one waiting."""
        async with notifications.subscribe(self.channel) as asked:
            while True:
                for workspace_id in await self._waiting():
                    try:
                        await self.purge(workspace_id)
                    except Exception:  # the boundary of one purge: its row says that it is to be done
                        log.exception("workspace not purged yet", extra={"workspace_id": str(workspace_id)})
                await asked.wait(LONGEST_WAIT_SECONDS)

    async def purge(self, workspace_id: UUID) -> bool:
        """Removes and counts everything, and tells of it; False when another replica is at it."""
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
            await self._tell(workspace_id, tables, remaining)
        return True

    async def _waiting(self) -> list[UUID]:
        async with self.database.system() as connection:
            cursor = await connection.execute(
                "SELECT workspace_id FROM deleted_workspace WHERE purged_at IS NULL ORDER BY deleted_at"
            )
            return [row[0] for row in await cursor.fetchall()]

    async def _tables(self) -> list[str]:
        """In an order in which nothing refers to what is deleted; raises CycleError when there is none."""
        async with self.database.system() as connection:
            rows = await (await connection.execute(QUERIES["workspace_tables"])).fetchall()
        owned = {str(table) for table, _ in rows}
        referring = {str(table): owned.intersection(others) for table, others in rows}
        return list(TopologicalSorter(referring).static_order())

    async def _delete_some(self, workspace_id: UUID, table: str) -> int:
        statement = sql.SQL(
            "DELETE FROM {0} WHERE workspace_id = %(workspace_id)s AND ctid = ANY(ARRAY("
            "SELECT ctid FROM {0} WHERE workspace_id = %(workspace_id)s LIMIT %(limit)s))"
        ).format(sql.Identifier(table))
        async with self.database.workspace(workspace_id) as connection:
            values = {"workspace_id": workspace_id, "limit": self.rows_at_once}
            count = (await connection.execute(statement, values)).rowcount
            added = {"workspace_id": workspace_id, "kind": table, "count": count}
            await connection.execute(QUERIES["add_removed"], added)
        return count

    async def _erase(self, workspace_id: UUID, erasures: Sequence[Erasure]) -> dict[str, int]:
        """Returns what remains."""
        remaining: Counter[str] = Counter()
        for erase in erasures:
            erased = await erase(workspace_id)
            remaining.update(erased.remaining)
            async with self.database.workspace(workspace_id) as connection:
                for kind, count in erased.removed.items():
                    added = {"workspace_id": workspace_id, "kind": kind, "count": count}
                    await connection.execute(QUERIES["add_removed"], added)
        return dict(remaining)

    async def _tell(self, workspace_id: UUID, tables: Sequence[str], elsewhere: Mapping[str, int]) -> None:
        async with self.database.workspace(workspace_id) as connection:
            remaining = dict(elsewhere)
            for table in tables:
                count = sql.SQL("SELECT count(*) FROM {} WHERE workspace_id = %s").format(sql.Identifier(table))
                remaining[table] = int((await (await connection.execute(count, (workspace_id,))).fetchone() or (0,))[0])
            cursor = await connection.execute(
                "UPDATE deleted_workspace SET purged_at = now() WHERE workspace_id = %s RETURNING removed",
                (workspace_id,),
            )
            removed = (await cursor.fetchone() or ({},))[0]
            told = WorkspacePurged(service=self.outbox.source, removed=removed, remaining=remaining)
            await self.outbox.write(connection, workspace_id, told, str(workspace_id))
