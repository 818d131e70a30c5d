"""The table of workers."""

from __future__ import annotations

from typing import Any, LiteralString

from service_kit.postgres import Database
from service_kit.repository import SystemRepository
from service_kit.statements import Statements

# Threads of a worker that take no bulk work: one for users' uploads, one for another workspace.
BESIDE_BULK = 2


class WorkerSql(Statements, file="workers.sql"):
    count: LiteralString
    slots: LiteralString
    walls: LiteralString
    register: LiteralString
    unregister: LiteralString
    delete_silent: LiteralString


class Workers(SystemRepository):
    async def delete_silent(self, seconds: float) -> None:
        """Deletes workers that have been silent for this long."""
        await self.run(WorkerSql.delete_silent, after=seconds)


async def count_workers(database: Database, lease_seconds: float) -> int:
    """Counts live workers, in its own transaction: the transaction of a workspace cannot see workers."""
    async with database.system() as connection:
        return int(await SystemRepository(connection).value(WorkerSql.count, lease=lease_seconds))


async def walls_of_workers(database: Database, lease_seconds: float) -> list[dict[str, Any]]:
    """Returns the walls of all live workers. A wall that some lack has the details of a worker that lacks it."""
    found: dict[str, dict[str, Any]] = {}
    async with database.system() as connection:
        rows = await SystemRepository(connection).values(WorkerSql.walls, lease=lease_seconds)
    for walls in rows:
        for wall in walls:
            known = found.setdefault(wall["name"], wall)
            if known["active"] and not wall["active"]:
                found[wall["name"]] = wall
    return list(found.values())
