"""How long the queue is, for Prometheus: told by the replica that dispatches, and counted every few seconds."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Gauge

from ingestion.documents.worker_count import count_workers
from ingestion.statements import SQL
from service_kit.postgres import Database

EVERY_SECONDS = 10.0


class QueueMetrics:
    """Gauges, filled at most every EVERY_SECONDS."""

    def __init__(self, registry: CollectorRegistry, database: Database, lease_seconds: float) -> None:
        self.database, self.lease_seconds = database, lease_seconds
        self.depth = Gauge(
            "attractor_ingestion_queue_depth",
            "Documents that wait for a worker, by lane and stage",
            ["lane", "stage"],
            registry=registry,
        )
        self.oldest = Gauge(
            "attractor_ingestion_queue_oldest_seconds",
            "Age of what has waited longest, by lane",
            ["lane"],
            registry=registry,
        )
        self.workers = Gauge("attractor_ingestion_workers", "Workers that give signs of life", registry=registry)
        self._next = 0.0

    async def collect(self, leads: bool) -> None:
        """Counts, unless it did a moment ago. What the leading replica tells, the others do not tell again."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY_SECONDS
        self.workers.set(await count_workers(self.database, self.lease_seconds))
        self.depth.clear()
        self.oldest.clear()
        if leads:
            await self._collect_queue()

    async def _collect_queue(self) -> None:
        async with self.database.system() as connection:
            rows = await (await connection.execute(SQL["queue_state"])).fetchall()
        for lane in ("interactive", "bulk"):
            ages = [age for row_lane, _, _, age in rows if row_lane == lane]
            self.oldest.labels(lane).set(max(ages, default=0.0))
            depths = {stage: depth for row_lane, stage, depth, _ in rows if row_lane == lane}
            for stage in ("convert", "embed"):
                self.depth.labels(lane, stage).set(depths.get(stage, 0))
