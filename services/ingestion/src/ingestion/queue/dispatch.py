"""Wakes workers that have a slot free when there is something to do.

The tables say what is to be done and what is in work; a message only says that it is worth looking. How many are needed
follows, every time anew, from both: a message that is lost is sent again at the next look, one too many finds nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from celery import Celery
from psycopg.rows import class_row, scalar_row
from redis.asyncio import Redis

from contracts.ingestion import Lane
from ingestion.documents.workers import BESIDE_BULK
from ingestion.queue.celery_app import PROCESS_TASK, QUEUES, SYNC_QUEUE, SYNC_TASK
from ingestion.queue.metrics import QueueMetrics
from ingestion.queue.recovery import Recovery
from ingestion.queue.statements import QueueSql
from service_kit.notifications import Notifications
from service_kit.postgres import Connection, Database

TICK_SECONDS = 1.0
CALM_SECONDS = 0.02
LOCK = "ingestion/dispatcher"


@dataclass(frozen=True)
class LaneLoad:
    """`due` is counted no further than the workers could take."""

    workers: int
    slots: int
    lane: str
    running: int
    due: int


@dataclass(frozen=True)
class WantedMessages:
    """How many workers' threads are to look for work of each kind."""

    interactive: int
    bulk: int
    syncs: int

    @property
    def by_queue(self) -> dict[str, int]:
        return {
            QUEUES[Lane.interactive]: self.interactive,
            QUEUES[Lane.bulk]: self.bulk,
            SYNC_QUEUE: self.syncs,
        }


def wanted(loads: list[LaneLoad], running_syncs: int, due_syncs: int) -> WantedMessages:
    """Computes how many messages are needed.

    Bulk work takes the workers' slots; interactive work those and BESIDE_BULK more of each; syncs one of each.
    """
    lanes = {load.lane: load for load in loads}
    interactive, bulk = lanes[Lane.interactive], lanes[Lane.bulk]
    workers, slots = bulk.workers, bulk.slots
    free = max(0, slots + BESIDE_BULK * workers - interactive.running - bulk.running)
    return WantedMessages(
        interactive=min(interactive.due, free),
        bulk=min(bulk.due, max(0, slots - bulk.running), max(0, free - interactive.due)),
        syncs=min(due_syncs, max(0, workers - running_syncs)),
    )


class Dispatcher:
    """A background task of the API process. One replica at a time dispatches; the others take over when it is gone."""

    def __init__(
        self,
        database: Database,
        redis: Redis,
        celery: Celery,
        notifications: Notifications,
        channel: str,
        lease_seconds: float,
        recovery: Recovery,
        metrics: QueueMetrics,
    ) -> None:
        self.database, self.redis, self.celery = database, redis, celery
        self.notifications, self.channel, self.lease_seconds = notifications, channel, lease_seconds
        self.recovery, self.metrics = recovery, metrics

    async def run(self) -> None:
        """Runs until cancelled; wakes when there is something new to do, and looks for losses at every tick."""
        loop = asyncio.get_running_loop()
        next_tick = 0.0
        async with self.notifications.subscribe(self.channel) as queued:
            while True:
                leads = await self.dispatch()
                if loop.time() >= next_tick:
                    await self._tick(leads)
                    next_tick = loop.time() + TICK_SECONDS
                if await queued.wait(TICK_SECONDS):
                    # A load of uploads is one look, not one each.
                    await asyncio.sleep(CALM_SECONDS)

    async def _tick(self, leads: bool) -> None:
        if leads:
            await self.recovery.run()
        await self.metrics.collect(leads)

    async def dispatch(self) -> bool:
        """Sends what messages are missing; returns False while another replica dispatches."""
        async with self.database.system() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            await cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (LOCK,))
            if not await cursor.fetchone():
                return False
            missing = await self._missing(await self._wanted(connection))
            if missing:
                await asyncio.to_thread(self._send, missing)
        return True

    async def _wanted(self, connection: Connection) -> WantedMessages:
        async with connection.cursor(row_factory=class_row(LaneLoad)) as cursor:
            await cursor.execute(QueueSql.capacity, {"lease": self.lease_seconds, "beside": BESIDE_BULK})
            loads = await cursor.fetchall()
        row = await (await connection.execute(QueueSql.sync_load)).fetchone()
        assert row is not None
        return wanted(loads, running_syncs=row[0], due_syncs=row[1])

    async def _missing(self, wanted: WantedMessages) -> dict[str, int]:
        """Returns per queue how many messages are wanted and not in it yet."""
        queues = {queue: count for queue, count in wanted.by_queue.items() if count}
        if not queues:
            return {}
        async with self.redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
            lying = await pipe.execute()
        missing = {queue: count - there for (queue, count), there in zip(queues.items(), lying, strict=True)}
        return {queue: count for queue, count in missing.items() if count > 0}

    def _send(self, missing: dict[str, int]) -> None:
        lanes = {queue: lane for lane, queue in QUEUES.items()}
        with self.celery.connection_for_write() as broker:
            for queue, count in missing.items():
                lane = lanes.get(queue)
                task, arguments = (PROCESS_TASK, {"lane": lane.value}) if lane else (SYNC_TASK, {})
                for _ in range(count):
                    self.celery.send_task(
                        task, kwargs=arguments, queue=queue, connection=broker, retry=False, ignore_result=True
                    )
