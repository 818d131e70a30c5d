"""Holding a stage: its heartbeat, and the two reasons to let go of it early."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType
from typing import Self

import psycopg
from psycopg_pool import PoolTimeout

from ingestion.documents.rows import HeldStage
from ingestion.worker.stages import StageRecords
from service_kit.work import LeaseLost

log = logging.getLogger(__name__)
BEATS_PER_LEASE = 10


class WorkerStopped(Exception):
    """The worker is shutting down and its grace is over."""


class Shutdown:
    """Shared by the threads of a worker; `begin` is called from a signal handler, so it takes no lock."""

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
    """A context manager: a thread beats while the block runs. `check` is to be called between steps."""

    def __init__(self, stages: StageRecords, job: HeldStage, shutdown: Shutdown, lease_seconds: float) -> None:
        self.stages, self.job, self.shutdown, self.lease_seconds = stages, job, shutdown, lease_seconds
        self.page: int | None = None
        self.pages: int | None = None
        self._lost = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{job.document_id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def progress(self, page: int | None, pages: int | None) -> None:
        """Shown with the next heartbeat. Raises as `check` does."""
        self.page, self.pages = page, pages
        self.check()

    def check(self) -> None:
        """Raises LeaseLost and WorkerStopped."""
        if self._lost:
            raise LeaseLost
        if self.shutdown.is_over:
            raise WorkerStopped

    def _beat(self) -> None:
        seen = time.monotonic()
        while not self._ended.wait(self.lease_seconds / BEATS_PER_LEASE):
            try:
                alive = self.stages.beat(self.job, self.page, self.pages)
            except (psycopg.OperationalError, PoolTimeout) as error:
                log.warning("no heartbeat", extra={"document_id": str(self.job.document_id), "reason": str(error)})
                # Without the database nobody else can have taken the stage; with it back, the next beat tells.
                alive = time.monotonic() - seen < self.lease_seconds
            else:
                seen = time.monotonic()
            if not alive:
                self._lost = True
                return
