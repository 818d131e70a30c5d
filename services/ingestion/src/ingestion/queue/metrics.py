"""Prometheus gauges of the queue, collected every few seconds and published by the replica that dispatches."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Gauge

from ingestion.documents.workers import count_workers
from ingestion.queue.statements import QueueSql
from service_kit.postgres import Database

EVERY_SECONDS = 10.0


class QueueMetrics:
    """Gauges, filled at most every EVERY_SECONDS."""

    def __init__(self, registry: CollectorRegistry, database: Database, lease_seconds: float) -> None:
        self.database, self.lease_seconds = database, lease_seconds
        self.depth = Gauge(
            "attractor_ingestion_queue_depth",
            "Documents waiting for a worker, by lane and stage",
            ["lane", "stage"],
            registry=registry,
        )
        self.oldest = Gauge(
            "attractor_ingestion_queue_oldest_seconds",
            "Age of the oldest queued stage, by lane",
            ["lane"],
            registry=registry,
        )
        self.workers = Gauge("attractor_ingestion_workers", "Live workers", registry=registry)
        self._next = 0.0

    async def collect(self, leads: bool) -> None:
        """Collects at most every EVERY_SECONDS; only the replica that dispatches publishes the queue."""
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
            rows = await (await connection.execute(QueueSql.depths)).fetchall()
        for lane in ("interactive", "bulk"):
            ages = [age for row_lane, _, _, age in rows if row_lane == lane]
            self.oldest.labels(lane).set(max(ages, default=0.0))
            depths = {stage: depth for row_lane, stage, depth, _ in rows if row_lane == lane}
            for stage in ("convert", "embed"):
                self.depth.labels(lane, stage).set(depths.get(stage, 0))
