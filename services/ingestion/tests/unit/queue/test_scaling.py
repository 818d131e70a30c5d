from __future__ import annotations

import pytest

from ingestion.queue.scaling import LaneWorkload, Workload, workers_wanted

TARGET = 60.0
IDLE = Workload(running=0, waiting=0, oldest_seconds=0.0)


def wanted(
    interactive: tuple[int, int, float] = (0, 0, 0.0),
    bulk: tuple[int, int, float] = (0, 0, 0.0),
    syncs: Workload = IDLE,
    slots: int = 2,
) -> int:
    """Each lane is (running, waiting, age of the oldest)."""
    lanes = [LaneWorkload(*interactive, lane="interactive"), LaneWorkload(*bulk, lane="bulk")]
    return workers_wanted(lanes, syncs, slots, TARGET)


def test_without_work_no_worker_is_wanted() -> None:
    assert wanted() == 0


@pytest.mark.parametrize("slots", [0, 2])  # 0: no worker runs, so none says how many slots it has
def test_any_work_wants_a_worker_at_once(slots: int) -> None:
    assert wanted(interactive=(0, 1, 0.0), slots=slots) == 1
    assert wanted(bulk=(0, 500, 0.0), slots=slots) == 1
    assert wanted(syncs=Workload(0, 1, 0.0), slots=slots) == 1


def test_no_more_are_wanted_before_the_oldest_has_waited_too_long() -> None:
    assert wanted(bulk=(4, 96, TARGET)) == 2
    assert wanted(bulk=(4, 96, TARGET + 1)) == 50


def test_workers_that_are_busy_stay_wanted_until_they_are_not() -> None:
    assert [wanted(bulk=(running, 0, 0.0)) for running in (6, 5, 4, 1, 0)] == [3, 3, 2, 1, 0]


def test_uploads_use_the_threads_that_bulk_work_leaves() -> None:
    assert wanted(interactive=(2, 0, 0.0), bulk=(2, 0, 0.0)) == 1
    assert wanted(interactive=(0, 9, TARGET + 1)) == 3


def test_a_lane_that_is_served_in_time_asks_for_nothing_because_another_waits() -> None:
    assert wanted(interactive=(0, 8, TARGET + 1), bulk=(2, 1000, 1.0)) == 3


def test_each_synchronisation_wants_a_worker_of_its_own() -> None:
    assert wanted(syncs=Workload(running=2, waiting=3, oldest_seconds=1.0)) == 2
    assert wanted(syncs=Workload(running=2, waiting=3, oldest_seconds=TARGET + 1)) == 5
