"""Wakes workers with free slots when work is due.

The tables say what is due and what is running; a message only tells a worker to look. The number of messages needed is
computed from both every time, so a lost message is sent again, and a surplus one finds nothing to do.
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
CALM_SECONDS = 0.05
LOCK = "ingestion/dispatcher"


@dataclass(frozen=True)
class LaneLoad:
    """The load of one lane. `due` is counted only up to what the workers could take."""

    workers: int
    slots: int
    lane: str
    running: int
    due: int


@dataclass(frozen=True)
class WantedMessages:
    """The number of worker threads that should look for each kind of work."""

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

    Bulk work may use all slots, interactive work also BESIDE_BULK more per worker, synchronisations one thread per
    worker.
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
    """A background task of the API process. One replica dispatches at a time; if it ends, another takes over."""

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
        """Runs until cancelled; wakes when there is new work, and recovers lost work at every tick."""
        loop = asyncio.get_running_loop()
        next_tick = 0.0
        async with self.notifications.subscribe(self.channel) as queued:
            while True:
                leads = await self.dispatch()
                if loop.time() >= next_tick:
                    await self._tick(leads)
                    next_tick = loop.time() + TICK_SECONDS
                # The first of a burst is dispatched at once, the others together: workers look for more by themselves.
                await asyncio.sleep(CALM_SECONDS)
                await queued.wait(TICK_SECONDS)

    async def _tick(self, leads: bool) -> None:
        if leads:
            await self.recovery.run()
        await self.metrics.collect(leads)

    async def dispatch(self) -> bool:
        """Sends the missing messages; returns False while another replica dispatches."""
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
        """Returns, per queue, how many of the wanted messages are not in it yet."""
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
