"""Threads and lanes of one worker, with jobs that run until the test ends them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from contracts.ingestion import Lane
from ingestion.documents.rows import HeldStage
from ingestion.worker.slots import Slots

BULK, INTERACTIVE = Lane.bulk, Lane.interactive


def job(lane: Lane) -> HeldStage:
    return HeldStage(uuid4(), uuid4(), uuid4(), "convert", lane, 0, 0, None, "a.md", None, "text/markdown", 1, "", 1)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@dataclass
class Work:
    """A queue, with jobs that run until `end` is called."""

    queue: deque[HeldStage] = field(default_factory=deque)
    running: list[HeldStage] = field(default_factory=list)
    gates: dict[int, threading.Event] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, lanes: tuple[Lane, ...]) -> HeldStage | None:
        with self.lock:
            users_first = sorted(self.queue, key=lambda one: one.lane is BULK)
            found = next((one for one in users_first if one.lane in lanes), None)
            if found:
                self.queue.remove(found)
            return found

    def run(self, one: HeldStage) -> None:
        gate = self.gates.setdefault(id(one), threading.Event())
        self.running.append(one)
        assert gate.wait(120)
        self.running.remove(one)

    def end(self, one: HeldStage) -> None:
        self.gates[id(one)].set()

    def lanes(self) -> list[Lane]:
        return sorted(one.lane for one in self.running)


def test_bulk_work_leaves_two_threads_for_interactive_work_which_may_use_all() -> None:
    work = Work(deque(job(BULK) for _ in range(5)))
    slots = Slots(2, work.take, work.run)
    with ThreadPoolExecutor(10) as pool:
        for _ in range(4):
            pool.submit(slots.serve, BULK)
        until(lambda: work.lanes() == [BULK, BULK])
        for _ in range(3):
            pool.submit(slots.serve, BULK)  # surplus messages return at once
        time.sleep(0.05)
        assert (work.lanes(), slots.busy(BULK), slots.busy(INTERACTIVE)) == ([BULK, BULK], 2, 0)

        work.queue.extend(job(INTERACTIVE) for _ in range(4))
        for _ in range(3):
            pool.submit(slots.serve, INTERACTIVE)
        until(lambda: work.lanes() == [BULK, BULK, INTERACTIVE, INTERACTIVE])
        # A freed slot takes interactive work first, without a message.
        work.end(next(one for one in work.running if one.lane is BULK))
        until(lambda: work.lanes() == [BULK, *[INTERACTIVE] * 3])
        work.end(next(one for one in work.running if one.lane is BULK))
        until(lambda: work.lanes() == [INTERACTIVE] * 4)
        while work.running or work.queue:
            for one in list(work.running):
                work.end(one)
            time.sleep(0.005)
    assert (slots.busy(BULK), slots.busy(INTERACTIVE)) == (0, 0)


def test_a_wakeup_during_the_last_check_of_the_last_slot_is_not_lost() -> None:
    looked: list[tuple[Lane, ...]] = []

    def take(lanes: tuple[Lane, ...]) -> HeldStage | None:
        looked.append(lanes)
        if len(looked) == 1:
            slots.serve(BULK)  # turned away, because the only bulk slot is looking for work
        return None

    slots = Slots(1, take, lambda _: None)
    slots.serve(BULK)
    assert len(looked) == 2


def test_a_database_outage_does_not_occupy_a_slot_permanently() -> None:
    def take(_: tuple[Lane, ...]) -> HeldStage | None:
        raise ConnectionError

    slots = Slots(1, take, lambda _: None)
    for _ in range(5):
        with pytest.raises(ConnectionError):
            slots.serve(BULK)
