"""The registration of a worker: its slots, number of documents done, memory and walls."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Self

import psutil
import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import PoolTimeout

from ingestion.documents.workers import WorkerSql
from ingestion.worker.database import WorkerDatabase
from service_kit.sandbox import Wall

log = logging.getLogger(__name__)
BEATS_PER_LEASE = 4
END_SECONDS = 15.0  # longer than a connection waits for a server that has vanished


class Registration:
    """A context manager that registers the worker while its block runs; the end waits at most END_SECONDS.

    `documents` returns how many it has processed; `walls` returns none until they are known, seconds after the start.
    """

    def __init__(
        self,
        database: WorkerDatabase,
        worker: str,
        slots: int,
        lease_seconds: float,
        documents: Callable[[], int],
        walls: Callable[[], Sequence[Wall]],
    ) -> None:
        self.database, self.worker, self.slots, self.documents = database, worker, slots, documents
        self.walls = walls
        self._seconds = lease_seconds / BEATS_PER_LEASE
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="registration", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(END_SECONDS)
        if self._thread.is_alive():
            log.warning("the database did not answer when the worker's registration was removed")

    def _keep(self) -> None:
        ended = False
        while not ended:
            try:
                self._write()
            except (psycopg.OperationalError, PoolTimeout) as error:
                log.warning("could not register the worker", extra={"reason": str(error)})
            ended = self._ended.wait(self._seconds)
        self._remove()

    def _remove(self) -> None:
        try:
            with self.database.system() as connection:
                connection.execute(WorkerSql.unregister, {"id": self.worker})
        except (psycopg.OperationalError, PoolTimeout) as error:
            log.warning("could not remove the worker's registration", extra={"reason": str(error)})

    def _write(self) -> None:
        walls = Jsonb([asdict(wall) for wall in self.walls()])
        values = {"id": self.worker, "slots": self.slots, "documents": self.documents(), "walls": walls}
        with self.database.system() as connection:
            connection.execute(WorkerSql.register, {**values, "resident_bytes": psutil.Process().memory_info().rss})
