"""Holds the lease of a stage, and checks for the two reasons to stop early."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from ingestion.documents.rows import ClaimedStage, HeldStage
from service_kit.problems import WorkspaceGone
from service_kit.work import LeaseLost, StopAsked, WorkQueue
from service_kit.worker import while_held

NO_LONGER_HELD = (LeaseLost, StopAsked, WorkspaceGone)
WRITES_PER_LEASE = 10


class WorkerStopped(Exception):
    """The worker is shutting down and its grace period is over."""


class Shutdown:
    """The shutdown state, shared by a worker's threads. A signal handler calls `begin`, so it takes no lock."""

    def __init__(self, grace_seconds: float) -> None:
        self.grace_seconds = grace_seconds
        self.deadline: float | None = None

    def begin(self) -> None:
        self.deadline = time.monotonic() + self.grace_seconds

    @property
    def has_begun(self) -> bool:
        return self.deadline is not None

    @property
    def is_over(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


class Holding:
    """A context manager that renews the lease while its block runs. Call `check` between steps."""

    def __init__(
        self, queue: WorkQueue[ClaimedStage], loop: asyncio.AbstractEventLoop, job: HeldStage, shutdown: Shutdown
    ) -> None:
        self.queue, self.loop, self.job, self.shutdown = queue, loop, job, shutdown
        self.page: int | None = None
        self.pages: int | None = None
        self._ended, self._moved = asyncio.Event(), asyncio.Event()
        self._pause = queue.lease_seconds / WRITES_PER_LEASE
        self._next_write = time.monotonic() + self._pause

    def __enter__(self) -> Self:
        held = while_held(self.queue, self.job, self._ended.wait(), self._columns, self._moved)
        self._held = asyncio.run_coroutine_threadsafe(held, self.loop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.loop.call_soon_threadsafe(self._ended.set)
        with suppress(*NO_LONGER_HELD):
            self._held.result()

    def progress(self, page: int | None, pages: int | None) -> None:
        """Reports progress, which is saved several times per lease. Raises as `check` does."""
        self.page, self.pages = page, pages
        if time.monotonic() >= self._next_write:
            self._next_write = time.monotonic() + self._pause
            self.loop.call_soon_threadsafe(self._moved.set)
        self.check()

    def check(self) -> None:
        """Raises LeaseLost if the lease is gone, WorkerStopped if the grace period is over."""
        if self._held.done():
            try:
                self._held.result()
            except NO_LONGER_HELD as error:
                raise LeaseLost from error
        if self.shutdown.is_over:
            raise WorkerStopped

    def _columns(self) -> dict[str, object]:
        return {"heartbeat_at": datetime.now(UTC), "page": self.page, "pages": self.pages}
