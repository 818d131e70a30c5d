"""Which runs' ends have been applied, so that a read can wait for one."""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from memory.errors import RunNotSettled
from service_kit.auth import Principal
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.waiting import until

CHANNEL = "memory_settled_run"


class SettledRunSql(Statements, file="settled_runs.sql"):
    settle: LiteralString
    is_settled: LiteralString


class SettledRunRows(Repository):
    """Runs that ended, and whose effects, if any, are in the tables."""

    async def settle(self, run_id: UUID, user_id: UUID) -> None:
        """Records the run; processes that wait for it are notified when the transaction ends."""
        await self.run(SettledRunSql.settle, run_id=run_id, user_id=user_id)

    async def is_settled(self, run_id: UUID) -> bool:
        return bool(await self.value(SettledRunSql.is_settled, run_id=run_id))


class SettledRuns:
    """Waits for runs of the caller."""

    def __init__(self, database: Database, notifications: Notifications) -> None:
        self.database, self.notifications = database, notifications

    async def wait(self, caller: Principal, run_id: UUID, timeout: float) -> None:
        """Returns when the run's changes are applied, or it ended without any.

        Raises RunNotSettled after `timeout` seconds.
        """

        async def is_settled() -> bool:
            async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
                return await SettledRunRows(connection, caller.workspace_id).is_settled(run_id)

        if not await until(self.notifications, CHANNEL, run_id, is_settled, bool, timeout):
            raise RunNotSettled(f"nothing about the end of run {run_id} arrived within {timeout:g} s")
