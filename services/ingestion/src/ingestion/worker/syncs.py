"""Runs synchronisations in a worker, one at a time, on a separate event loop."""

from __future__ import annotations

import asyncio
import threading

from opentelemetry.trace import SpanKind

from ingestion.queue.celery_app import SYNC_TASK
from ingestion.sources.sync import Synchroniser
from service_kit.tracing import span


class SyncThread:
    """Runs the synchroniser for the worker's threads."""

    def __init__(self, synchroniser: Synchroniser, loop: asyncio.AbstractEventLoop) -> None:
        self.synchroniser, self.loop = synchroniser, loop
        self._busy = threading.Lock()

    @property
    def busy(self) -> int:
        """Returns 1 while a source is being synchronised, else 0."""
        return int(self._busy.locked())

    def serve(self) -> None:
        """Synchronises until nothing is due; returns at once if another thread is already synchronising."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            while asyncio.run_coroutine_threadsafe(self._one(), self.loop).result():
                pass
        finally:
            self._busy.release()

    async def _one(self) -> bool:
        held = await self.synchroniser.claim()
        if held is None:
            return False
        carrier = {"traceparent": held.traceparent} if held.traceparent else None
        with span(SYNC_TASK, carrier, SpanKind.CONSUMER):
            await self.synchroniser.synchronise(held)
        return True
