"""What runs that have ended, or are gone with their workspace, leave outside of their rows: checkpoints and streams."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from redis.asyncio import Redis

from contracts.events import run_stream
from service_kit import queries
from service_kit.postgres import Database
from service_kit.workspace_purge import Erased

LOOK_SECONDS = 600.0
BATCH = 500


class EndedRuns:
    """`run` is a background task: it deletes the checkpoints that a process died before it could delete."""

    def __init__(self, database: Database, redis: Redis, saver: AsyncPostgresSaver) -> None:
        self.database, self.redis, self.saver = database, redis, saver
        self.sql = queries.load("orchestrator.runs")

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.delete_abandoned()
            await asyncio.sleep(LOOK_SECONDS)

    async def delete_abandoned(self) -> None:
        """Deletes the checkpoints of all runs that have ended or are gone."""
        while True:
            async with self.database.system() as connection:
                cursor = await connection.execute(self.sql["abandoned_checkpoints"], {"limit": BATCH})
                threads = [str(row[0]) for row in await cursor.fetchall()]
            if threads:
                await self.saver.aprune(threads, strategy="delete")
            if len(threads) < BATCH:
                return

    async def erase(self, workspace_id: UUID) -> Erased:
        """Takes every lease of the deleted workspace away and tells the processes, which stop at once; then deletes.

        To be done while the runs' rows, which name checkpoints and streams, are there.
        """
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(self.sql["end_runs"], {"workspace_id": workspace_id})
            run_ids = [row[0] for row in await cursor.fetchall()]
        removed, remaining = {"checkpoints": 0, "run_streams": 0}, {"checkpoints": 0, "run_streams": 0}
        for start in range(0, len(run_ids), BATCH):
            batch = run_ids[start : start + BATCH]
            removed["checkpoints"] += await self._checkpoints(batch)
            await self.saver.aprune([str(run_id) for run_id in batch], strategy="delete")
            remaining["checkpoints"] += await self._checkpoints(batch)
            streams = [run_stream(run_id) for run_id in batch]
            removed["run_streams"] += int(await self.redis.delete(*streams))
            remaining["run_streams"] += int(await self.redis.exists(*streams))
        return Erased(removed, remaining)

    async def sweep(self, _: UUID) -> Erased:
        """What a process wrote in the moment between: its run has no row any more."""
        await self.delete_abandoned()
        return Erased()

    async def _checkpoints(self, run_ids: Sequence[UUID]) -> int:
        async with self.database.system() as connection:
            cursor = await connection.execute(
                "SELECT count(*) FROM checkpoints WHERE thread_id = ANY(%s)", ([str(run_id) for run_id in run_ids],)
            )
            return int((await cursor.fetchone() or (0,))[0])
