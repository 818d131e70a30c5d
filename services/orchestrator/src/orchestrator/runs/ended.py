"""Deletes what ended runs, and runs of deleted workspaces, leave behind: checkpoints, streams and old events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from uuid import UUID

from prometheus_client.core import Metric
from redis.asyncio import Redis

from contracts.run_events import run_stream
from orchestrator.checkpoints import Checkpoints
from orchestrator.runs.repository import RunSql, WorkspaceRuns
from service_kit.postgres import Database
from service_kit.readings import gauge
from service_kit.repository import SystemRepository
from service_kit.workspace_purge import Erased

LOOK_SECONDS, BATCH = 600.0, 500
EVENT_DAYS = 30
FAILED_HOURS = 24


class EndedRuns:
    """`run` is a background task that deletes old events, and checkpoints left by processes that died."""

    def __init__(self, database: Database, redis: Redis, checkpoints: Checkpoints) -> None:
        self.database, self.redis, self.checkpoints = database, redis, checkpoints

    async def run(self, *also: Callable[[], Awaitable[None]]) -> None:
        """Runs until cancelled; also does the work in `also` each time."""
        while True:
            await self.delete_abandoned()
            await self.delete_old_events()
            for work in also:
                await work()
            await asyncio.sleep(LOOK_SECONDS)

    async def checkpoint_bytes(self) -> int:
        """Returns the stored size of all checkpoints in bytes."""
        async with self.database.system() as connection:
            return int(await SystemRepository(connection).value(RunSql.checkpoint_bytes))

    async def gauges(self) -> Iterable[Metric]:
        """Returns gauges of waiting runs and the size of checkpoints, over all processes."""
        measured = await self.checkpoint_bytes()
        async with self.database.system() as connection:
            cursor = await connection.execute(RunSql.waiting.encode())
            waiting, age = await cursor.fetchone() or (0, 0)
        return (
            gauge("attractor_checkpoint_bytes", "Bytes of the checkpoints of all runs", measured),
            gauge(
                "attractor_runs_waiting", "Runs waiting for a worker or for the previous run of their session", waiting
            ),
            gauge("attractor_runs_waiting_oldest_seconds", "Age of the oldest waiting run", float(age)),
        )

    async def delete_abandoned(self) -> None:
        """Deletes the checkpoints of runs that have ended or no longer exist, of failed ones a day later."""
        while True:
            async with self.database.system() as connection:
                threads = await SystemRepository(connection).values(
                    RunSql.abandoned_checkpoints, failed_hours=FAILED_HOURS, limit=BATCH
                )
            if threads:
                await self.checkpoints.delete(threads)
            if len(threads) < BATCH:
                return

    async def delete_old_events(self) -> None:
        """Deletes events older than thirty days."""
        deleted = BATCH
        while deleted == BATCH:
            async with self.database.system() as connection:
                deleted = await SystemRepository(connection).run(RunSql.delete_old_events, days=EVENT_DAYS, limit=BATCH)

    async def delete_workspace(self, workspace_id: UUID) -> Erased:
        """Revokes all leases of the deleted workspace, which stops its runs at once; then deletes their streams.

        Call it while the runs' rows, which name the streams, still exist.
        """
        async with self.database.workspace(workspace_id) as connection:
            run_ids = await WorkspaceRuns(connection, workspace_id).end_all()
        return await self.erase_streams(run_ids)

    async def erase_checkpoints(self, run_ids: Sequence[UUID]) -> Erased:
        """Deletes and counts the checkpoints of these runs."""
        removed = remaining = 0
        for batch in _batches(run_ids):
            threads = [str(run_id) for run_id in batch]
            removed += await self._count(threads)
            await self.checkpoints.delete(threads)
            remaining += await self._count(threads)
        return Erased({"checkpoints": removed}, {"checkpoints": remaining})

    async def erase_streams(self, run_ids: Sequence[UUID]) -> Erased:
        """Deletes and counts the event streams of these runs. Raises RedisError."""
        removed = remaining = 0
        for batch in _batches(run_ids):
            streams = [run_stream(run_id) for run_id in batch]
            removed += int(await self.redis.delete(*streams))
            remaining += int(await self.redis.exists(*streams))
        return Erased({"streams": removed}, {"streams": remaining})

    async def _count(self, threads: list[str]) -> int:
        async with self.database.system() as connection:
            return int(await SystemRepository(connection).value(RunSql.count_checkpoints, threads=threads))


def _batches(run_ids: Sequence[UUID]) -> list[Sequence[UUID]]:
    return [run_ids[start : start + BATCH] for start in range(0, len(run_ids), BATCH)]
