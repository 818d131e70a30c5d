"""Gauges of the queue, documents and sources, collected every few seconds by the dispatching replica."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Gauge

from contracts.ingestion import STAGES, StageStatus
from ingestion.documents.workers import count_workers
from ingestion.queue.scaling import Scaling
from ingestion.queue.statements import QueueSql
from service_kit.postgres import Database

EVERY_SECONDS = 10.0
COUNTING_SHARE = 0.01  # of the time, because counting takes longer the more documents there are
AGES = ("hour", "day", "week", "older", "never")


class QueueMetrics:
    """Gauges, updated at most every EVERY_SECONDS."""

    def __init__(self, registry: CollectorRegistry, database: Database, lease_seconds: float, scaling: Scaling) -> None:
        self.database, self.lease_seconds, self.scaling = database, lease_seconds, scaling
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
        self.wanted = Gauge(
            "attractor_ingestion_workers_wanted",
            "Workers for what runs, and for what waits if its oldest has waited too long",
            registry=registry,
        )
        self.stages = Gauge(
            "attractor_document_stages",
            "Documents by stage and its state; those whose stage `index` succeeded are searchable",
            ["stage", "state"],
            registry=registry,
        )
        self.sources = Gauge(
            "attractor_sources",
            "Sources that are not paused, by the age of their last success: below an hour, a day, a week, or older",
            ["last_success"],
            registry=registry,
        )
        self.overdue = Gauge(
            "attractor_sources_overdue",
            "Scheduled sources without a successful synchronisation for three intervals",
            registry=registry,
        )
        self._next = self._next_counting = 0.0

    async def collect(self, leads: bool) -> None:
        """Updates the gauges at most every EVERY_SECONDS; only the dispatching replica reports the queue."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY_SECONDS
        self.workers.set(await count_workers(self.database, self.lease_seconds))
        self.wanted.set(await self.scaling.wanted() if leads else 0)
        self.depth.clear()
        self.oldest.clear()
        if leads:
            await self._collect_queue()
            await self._count()
        else:
            self.stages.clear()
            self.sources.clear()
            self.overdue.set(0)

    async def _collect_queue(self) -> None:
        async with self.database.system() as connection:
            rows = await (await connection.execute(QueueSql.depths)).fetchall()
        for lane in ("interactive", "bulk"):
            ages = [age for row_lane, _, _, age in rows if row_lane == lane]
            self.oldest.labels(lane).set(max(ages, default=0.0))
            depths = {stage: depth for row_lane, stage, depth, _ in rows if row_lane == lane}
            for stage in ("convert", "embed"):
                self.depth.labels(lane, stage).set(depths.get(stage, 0))

    async def _count(self) -> None:
        if time.monotonic() < self._next_counting:
            return
        start = time.monotonic()
        async with self.database.system() as connection:
            rows = await (await connection.execute(QueueSql.stages_by_state)).fetchall()
            ages = await (await connection.execute(QueueSql.sources_by_success)).fetchone()
        self._next_counting = time.monotonic() + (time.monotonic() - start) / COUNTING_SHARE
        counts = {(stage, state): count for stage, state, count in rows}
        for stage in STAGES:
            for state in StageStatus:
                self.stages.labels(stage, state.value).set(counts.get((stage, state.value), 0))
        *by_age, overdue = ages or [0] * (len(AGES) + 1)
        for age, count in zip(AGES, by_age, strict=True):
            self.sources.labels(age).set(count)
        self.overdue.set(overdue)
