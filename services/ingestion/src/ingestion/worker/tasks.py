"""The Celery tasks by which the dispatcher wakes a worker."""

from __future__ import annotations

from collections.abc import Callable

from celery import Celery

from contracts.ingestion import Lane
from ingestion.queue.celery_app import PROCESS_TASK, SYNC_TASK


def register(celery: Celery, documents: Callable[[Lane], None], syncs: Callable[[], None]) -> None:
    """Defines the tasks on the application. A task runs as long as there is something to do."""

    @celery.task(name=PROCESS_TASK)  # type: ignore[untyped-decorator]  # Celery has no types
    def process_documents(lane: str) -> None:
        documents(Lane(lane))

    @celery.task(name=SYNC_TASK)  # type: ignore[untyped-decorator]  # Celery has no types
    def synchronise() -> None:
        syncs()
