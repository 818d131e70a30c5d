"""Works the queue of runs off: as many at a time as the process may, woken when one is queued."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Gauge

from orchestrator.runs.attempt import Attempt
from orchestrator.runs.records import ClaimedRun
from orchestrator.runs.store import QUEUED, RunStore
from service_kit.notifications import Notifications

log = logging.getLogger(__name__)


@dataclass
class Worker:
    """`run` is a background task; when it is cancelled, what it works on goes back to the queue at once."""

    store: RunStore
    notifications: Notifications
    attempt: Callable[[ClaimedRun], Attempt]
    concurrency: int
    registry: CollectorRegistry
    owner: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")

    def __post_init__(self) -> None:
        self._working: set[asyncio.Task[None]] = set()
        self._active = Gauge("attractor_runs_active", "Runs that this process works on", registry=self.registry)
        self._active.set_function(lambda: len(self._working))
        self._attempts = Counter(
            "attractor_run_attempts_total", "Attempts at runs, by how they ended", ["result"], registry=self.registry
        )

    async def run(self) -> None:
        """Runs until cancelled. What dead processes left behind is looked for a few times per lease."""
        try:
            async with self.notifications.subscribe(QUEUED) as wake:
                while True:
                    await self._claim(wake.event)
                    await wake.wait(self.store.lease_seconds / 3)
        finally:
            await self._stop()

    async def _claim(self, wake: asyncio.Event) -> None:
        free = self.concurrency - len(self._working)
        if free <= 0:
            return
        for run in await self.store.claim(self.owner, free):
            task = asyncio.create_task(self._execute(run), name=f"run {run.id}")
            self._working.add(task)
            task.add_done_callback(self._working.discard)
            task.add_done_callback(lambda _: wake.set())

    async def _execute(self, run: ClaimedRun) -> None:
        attempt = self.attempt(run)
        try:
            await attempt.execute()
        except Exception:  # the boundary of a run: its lease runs out, and another attempt goes on
            attempt.result = "broke off"
            log.exception("run attempt broke off", extra={"run_id": str(run.id), "attempt": run.attempts})
        finally:
            self._attempts.labels(attempt.result).inc()

    async def _stop(self) -> None:
        working = list(self._working)
        for task in working:
            task.cancel()
        if working:
            await asyncio.wait(working)
