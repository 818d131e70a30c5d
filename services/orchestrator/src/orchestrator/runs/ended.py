"""Deletes what ended runs, and those of deleted workspaces, leave outside of their rows: checkpoints and streams."""

from __future__ import annotations

import asyncio
from uuid import UUID

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from redis.asyncio import Redis

from contracts.events import run_stream
from orchestrator.runs.repository import RunSql, WorkspaceRuns
from service_kit.postgres import Database
from service_kit.repository import SystemRepository
from service_kit.workspace_purge import Erased

LOOK_SECONDS = 600.0
BATCH = 500


class EndedRuns:
    """`run` is a background task: it deletes the checkpoints that a process died before it could delete."""

    def __init__(self, database: Database, redis: Redis, saver: AsyncPostgresSaver) -> None:
        self.database, self.redis, self.saver = database, redis, saver

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.delete_abandoned()
            await asyncio.sleep(LOOK_SECONDS)

    async def delete_abandoned(self) -> None:
        """Deletes the checkpoints of all runs that have ended or are gone."""
        while True:
            async with self.database.system() as connection:
                threads = await SystemRepository(connection).values(RunSql.abandoned_checkpoints, limit=BATCH)
            if threads:
                await self.saver.aprune(threads, strategy="delete")
            if len(threads) < BATCH:
                return

    async def delete_workspace(self, workspace_id: UUID) -> Erased:
        """Takes every lease of the deleted workspace away, which stops its runs at once; then deletes.

        To be called while the runs' rows, which name checkpoints and streams, are there.
        """
        async with self.database.workspace(workspace_id) as connection:
            run_ids = await WorkspaceRuns(connection, workspace_id).end_all()
        removed, remaining = {"checkpoints": 0, "run_streams": 0}, {"checkpoints": 0, "run_streams": 0}
        for start in range(0, len(run_ids), BATCH):
            batch = run_ids[start : start + BATCH]
            threads, streams = [str(run_id) for run_id in batch], [run_stream(run_id) for run_id in batch]
            removed["checkpoints"] += await self._count(threads)
            await self.saver.aprune(threads, strategy="delete")
            remaining["checkpoints"] += await self._count(threads)
            removed["run_streams"] += int(await self.redis.delete(*streams))
            remaining["run_streams"] += int(await self.redis.exists(*streams))
        return Erased(removed, remaining)

    async def delete_latecomers(self, _: UUID) -> Erased:
        """Deletes what a process wrote in the moment between: its run has no row any more."""
        await self.delete_abandoned()
        return Erased()

    async def _count(self, threads: list[str]) -> int:
        async with self.database.system() as connection:
            return int(await SystemRepository(connection).value(RunSql.count_checkpoints, threads=threads))
