"""Limits how many documents of each lane a worker processes at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from contracts.ingestion import Lane
from ingestion.documents.rows import HeldStage
from ingestion.documents.workers import BESIDE_BULK

ALL_LANES = (Lane.interactive, Lane.bulk)
Take = Callable[[tuple[Lane, ...]], HeldStage | None]


class Slots:
    """The threads of a worker: `slots` for any lane, and BESIDE_BULK more for interactive work only.

    `take` leases a job in one of the given lanes, or returns None; `run` processes it.
    """

    def __init__(self, slots: int, take: Take, run: Callable[[HeldStage], None]) -> None:
        self.slots, self.take, self.run = slots, take, run
        self._lock = threading.Lock()
        self._threads = 0
        self._bulk = 0  # threads that run bulk work or look for it
        self._busy = dict.fromkeys(ALL_LANES, 0)
        self._turned_away = False
        self.documents = 0  # processed so far

    def busy(self, lane: Lane) -> int:
        """Returns how many documents of the lane are being processed."""
        return self._busy[lane]

    def serve(self, lane: Lane) -> None:
        """Processes documents, of any lane, until there is nothing to take; `lane` is the lane of the message.

        Returns at once if that lane has no free slot; the threads that have one look again before they leave.
        """
        if not self._enter(lane):
            return
        try:
            while self._work_once() or not self._leave():
                pass
        except BaseException:
            with self._lock:
                self._threads -= 1
            raise

    def _work_once(self) -> bool:
        bulk = self._reserve_bulk()
        try:
            job = self.take(ALL_LANES if bulk else (Lane.interactive,))
            if job is None:
                return False
            if bulk and job.lane is not Lane.bulk:
                self._give_back_bulk()
                bulk = False
            with self._lock:
                self._busy[job.lane] += 1
            try:
                self.run(job)
            finally:
                with self._lock:
                    self._busy[job.lane] -= 1
                    self.documents += 1
            return True
        finally:
            if bulk:
                self._give_back_bulk()

    def _reserve_bulk(self) -> bool:
        with self._lock:
            free = self._bulk < self.slots
            self._bulk += free
            return free

    def _give_back_bulk(self) -> None:
        with self._lock:
            self._bulk -= 1

    def _enter(self, lane: Lane) -> bool:
        with self._lock:
            free = self._threads < self.slots + BESIDE_BULK and (lane is Lane.interactive or self._bulk < self.slots)
            if free:
                self._threads += 1
            else:
                self._turned_away = True
            return free

    def _leave(self) -> bool:
        """Returns False if a message was turned away meanwhile, because it may announce new work."""
        with self._lock:
            if self._turned_away:
                self._turned_away = False
                return False
            self._threads -= 1
            return True
