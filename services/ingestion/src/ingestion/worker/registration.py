"""The row by which a worker is known: that it lives, what it can take, and what it has done."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import psycopg
from psycopg_pool import PoolTimeout

from ingestion.documents.workers import WorkerSql
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.recycling import own_memory

log = logging.getLogger(__name__)
BEATS_PER_LEASE = 4


class Registration:
    """A context manager: registered while the block runs, and forgotten at its end.

    `documents` counts those done by this process. `on_beat` is called with each sign of life that the database took.
    """

    def __init__(
        self,
        database: WorkerDatabase,
        worker: str,
        slots: int,
        lease_seconds: float,
        documents: Callable[[], int],
        on_beat: Callable[[], None],
    ) -> None:
        self.database, self.worker, self.slots = database, worker, slots
        self.documents, self.on_beat = documents, on_beat
        self._seconds = lease_seconds / BEATS_PER_LEASE
        self._changed, self._ended = threading.Event(), False
        self._thread = threading.Thread(target=self._keep, name="registration", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._changed.set()
        self._thread.join()
        try:
            with self.database.system() as connection:
                connection.execute(WorkerSql.unregister, {"id": self.worker})
        except (psycopg.OperationalError, PoolTimeout) as failure:
            log.warning("still registered", extra={"reason": str(failure)})

    def retire(self) -> None:
        """Takes nothing more."""
        self.slots = 0
        self._changed.set()

    def _keep(self) -> None:
        while not self._ended:
            self._changed.clear()
            try:
                self._tell()
                self.on_beat()
            except (psycopg.OperationalError, PoolTimeout) as error:
                log.warning("not registered", extra={"reason": str(error)})
            self._changed.wait(self._seconds)

    def _tell(self) -> None:
        values = {"id": self.worker, "slots": self.slots, "documents": self.documents()}
        with self.database.system() as connection:
            connection.execute(WorkerSql.register, {**values, "resident_bytes": own_memory()})
