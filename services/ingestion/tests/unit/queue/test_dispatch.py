from __future__ import annotations

import pytest

from ingestion.queue.dispatch import LaneLoad, wanted


@pytest.mark.parametrize(
    ("workers", "interactive", "bulk", "expected"),
    [
        ((0, 0), (3, 0), (3, 0), (0, 0)),
        ((1, 2), (0, 0), (3, 0), (0, 2)),  # (due, running) by lane; two threads take no bulk work
        ((1, 2), (0, 0), (3, 2), (0, 0)),
        ((1, 2), (3, 0), (3, 2), (2, 0)),
        ((1, 2), (3, 2), (0, 2), (0, 0)),
        ((2, 4), (3, 0), (6, 0), (3, 4)),
        ((2, 4), (8, 0), (4, 0), (8, 0)),  # interactive work may take all threads
        ((2, 4), (0, 8), (4, 0), (0, 0)),
        ((1, 2), (0, 0), (3, 5), (0, 0)),  # some run at a worker that died
    ],
)
def test_no_more_workers_are_woken_than_there_is_work(
    workers: tuple[int, int], interactive: tuple[int, int], bulk: tuple[int, int], expected: tuple[int, int]
) -> None:
    count, slots = workers
    loads = [
        LaneLoad(count, slots, "interactive", running=interactive[1], due=interactive[0]),
        LaneLoad(count, slots, "bulk", running=bulk[1], due=bulk[0]),
    ]
    result = wanted(loads, running_syncs=0, due_syncs=0)
    assert (result.interactive, result.bulk) == expected


def test_a_worker_synchronises_one_source_at_a_time() -> None:
    loads = [LaneLoad(3, 6, lane, running=0, due=0) for lane in ("interactive", "bulk")]
    assert [wanted(loads, running, 5).syncs for running in (0, 2, 3, 4)] == [3, 1, 0, 0]
