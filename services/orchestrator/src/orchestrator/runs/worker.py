"""Executes queued runs, several at a time, and counts the attempts."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge

from orchestrator.runs.attempt import Attempt
from orchestrator.runs.records import ClaimedRun
from service_kit.notifications import Notifications
from service_kit.readings import counter
from service_kit.work import WorkQueue
from service_kit.worker import Worker

RESULTS = ("completed", "failed", "cancelled", "retried", "released", "superseded", "broke off")


def run_worker(
    queue: WorkQueue[ClaimedRun],
    notifications: Notifications,
    attempt: Callable[[ClaimedRun], Attempt],
    concurrency: int,
    registry: CollectorRegistry,
    drain: Callable[[], None],
    drain_seconds: float,
) -> Worker[ClaimedRun]:
    """Returns the worker; its `run` is a background task.

    When the process stops, it calls `drain`, which ends each run after its node; `drain_seconds` later they are cut.
    """
    attempts = counter("attractor_run_attempts_total", "Run attempts, by how they ended", registry, result=RESULTS)

    async def execute(run: ClaimedRun) -> None:
        current = attempt(run)
        try:
            await current.execute()
        finally:
            attempts.labels(current.result).inc()

    worker = Worker(queue, execute, notifications, concurrency, on_stop=drain, grace_seconds=drain_seconds)
    active = Gauge("attractor_runs_active", "Runs in progress in this process", registry=registry)
    active.set_function(lambda: len(worker.working))
    return worker
