"""Synchronisations in a worker: one at a time, on an event loop of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from opentelemetry.trace import SpanKind

from ingestion.queue.celery_app import SYNC_TASK
from ingestion.sources.queue import claim_due
from ingestion.sources.sync import Synchroniser
from service_kit.postgres import Database
from service_kit.tracing import span


class Syncs:
    """`stopping` tells that nothing new is to be begun."""

    def __init__(
        self,
        database: Database,
        synchroniser: Synchroniser,
        loop: asyncio.AbstractEventLoop,
        lease_seconds: float,
        stopping: Callable[[], bool],
    ) -> None:
        self.database, self.synchroniser, self.loop = database, synchroniser, loop
        self.lease_seconds, self.stopping = lease_seconds, stopping
        self._busy = threading.Lock()

    @property
    def busy(self) -> int:
        """1 while a source is synchronised, else 0."""
        return int(self._busy.locked())

    def serve(self) -> None:
        """Synchronises until nothing is due; returns at once when another thread is at it."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            while not self.stopping() and asyncio.run_coroutine_threadsafe(self._one(), self.loop).result():
                pass
        finally:
            self._busy.release()

    async def _one(self) -> bool:
        async with self.database.system() as connection:
            keys = await claim_due(connection, 1, self.lease_seconds)
        for key in keys:
            carrier = {"traceparent": key.traceparent} if key.traceparent else None
            with span(SYNC_TASK, carrier, SpanKind.CONSUMER):
                await self.synchroniser.synchronise(key.workspace_id, key.sync_id)
        return bool(keys)
