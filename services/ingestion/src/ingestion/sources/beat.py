"""Celery beat with one entry, which needs nothing but the database and so runs where it is due, without a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from celery import Celery, beat

ENTRY = "ingestion.queue_due_syncs"
LONGEST_NAP_SECONDS = 1.0
WORK_SECONDS = 60.0


class LocalScheduler(beat.Scheduler):  # type: ignore[misc]  # Celery has no types
    """What is due is known by the table of sources: no state file, and no message that could wait for a worker."""

    producer = None

    def __init__(self, *arguments: Any, work: Callable[[], None], **options: Any) -> None:
        self.work = work
        super().__init__(*arguments, **options)

    def apply_async(self, _entry: Any, **_: Any) -> None:
        """Runs the only entry. What it raises is logged, and the next time comes as usual."""
        self.work()


async def keep_beating(work: Callable[[], Awaitable[None]], every_seconds: float) -> None:
    """Awaits `work` on this event loop at the beats, until cancelled."""
    loop = asyncio.get_running_loop()

    def run() -> None:
        asyncio.run_coroutine_threadsafe(_awaited(work), loop).result(WORK_SECONDS)

    app = Celery("ingestion-scheduler", set_as_current=False)
    app.conf.update(result_expires=None, beat_schedule={"due": {"task": ENTRY, "schedule": every_seconds}})
    service = beat.Service(app, LONGEST_NAP_SECONDS, scheduler_cls=partial(LocalScheduler, work=run))
    try:
        await asyncio.to_thread(service.start)
    finally:
        service.stop()


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()
