"""The order of the queue: interactive before bulk work, and fair between workspaces in a queue of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from work_conformance import LEASE_SECONDS, WorkCase, WorkConformance

from contracts.ingestion import STAGES, Lane
from ingestion.documents.stages import stage_work
from ingestion.worker.build import open_pool
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import running_loop
from ingestion.worker.queue import StageQueue
from ingestion.worker.slots import ALL_LANES
from ingestion.worker.stages import StageRecords
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.work import WorkQueue

Fill = Callable[..., None]
FILL = """
WITH new AS (
    INSERT INTO document (workspace_id, id, name, media_type, file_size, content_hash)
    SELECT %(workspace_id)s, gen_random_uuid(), number || '.md', 'text/markdown', 1, gen_random_uuid()::text
    FROM generate_series(1, %(count)s) AS number
    RETURNING workspace_id, id, name
)
INSERT INTO document_stage (workspace_id, document_id, name, state, lane, queued_at, available_at)
SELECT workspace_id, id, stage, CASE stage WHEN 'convert' THEN 'queued' ELSE 'waiting' END, %(lane)s,
       CASE stage WHEN 'convert' THEN now() - make_interval(secs => %(age)s) END,
       now() + make_interval(secs => CASE WHEN %(delay)s > 0 THEN %(delay)s ELSE -%(age)s END)
FROM new CROSS JOIN unnest(%(stages)s::text[]) AS stage
"""


@pytest.fixture
def queue_database(make_database: Callable[[str], Any]) -> Any:
    return make_database("ingestion")


@pytest.fixture
def fill(queue_database: Any) -> Fill:
    """`fill(workspace, 3, lane="bulk", age=5)` adds documents that wait for conversion."""

    def insert(
        workspace_id: UUID,
        count: int,
        lane: str = "bulk",
        age: float = 0,
        delay: float = 0,
        stages: Sequence[str] = STAGES[1:],
    ) -> None:
        values = {"workspace_id": workspace_id, "count": count, "lane": lane, "age": age, "delay": delay}
        with psycopg.connect(queue_database.admin, options="-c search_path=ingestion,public") as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
            connection.execute(FILL, {**values, "stages": list(stages)})

    return insert


@pytest.fixture
def queue(queue_database: Any) -> Iterator[StageQueue]:
    with ExitStack() as stack:
        stages = StageRecords(stack.enter_context(WorkerDatabase(queue_database.service, 2).opened()), "test")
        loop = stack.enter_context(running_loop("leases"))
        work = WorkQueue(open_pool(queue_database.service, 2, loop, stack), stage_work(3), LEASE_SECONDS, "test")
        yield StageQueue(work, loop, stages, lambda: False)


def taken(queue: StageQueue, count: int, *lanes: Lane) -> list[UUID]:
    """Leases the next documents; returns their workspaces in order."""
    jobs = [queue.take(lanes or ALL_LANES) for _ in range(count)]
    return [job.workspace_id for job in jobs if job]


def test_three_workspaces_take_turns_regardless_of_queue_length(fill: Fill, queue: StageQueue) -> None:
    large, small, smallest = uuid4(), uuid4(), uuid4()
    fill(large, 50, age=30)
    fill(small, 3, age=20)
    fill(smallest, 2, age=10)
    assert taken(queue, 8) == [large, small, smallest, large, small, smallest, large, small]
    assert taken(queue, 3) == [large, large, large]


def test_interactive_work_comes_first_and_the_reserved_thread_takes_only_that(fill: Fill, queue: StageQueue) -> None:
    bulk, user = uuid4(), uuid4()
    fill(bulk, 5, age=30)
    assert taken(queue, 1, Lane.interactive) == []
    fill(user, 2, lane="interactive")
    assert taken(queue, 3) == [user, user, bulk]


def test_a_postponed_stage_blocks_no_other(fill: Fill, queue: StageQueue) -> None:
    late, ready = uuid4(), uuid4()
    fill(late, 20, age=30, delay=60)
    fill(ready, 1)
    assert taken(queue, 3) == [ready]


def test_one_thread_is_reserved_for_other_workspaces(queue_database: Any, fill: Fill, queue: StageQueue) -> None:
    """Regression: a workspace with large files in both lanes took all threads."""
    with psycopg.connect(queue_database.admin) as connection:
        for name in ("one", "two"):
            connection.execute(
                "INSERT INTO ingestion.worker (id, slots, documents, resident_bytes) VALUES (%s, 2, 0, 0)", (name,)
            )
    greedy, other = uuid4(), uuid4()
    fill(greedy, 4)
    fill(greedy, 9, lane="interactive")
    assert taken(queue, 8) == [greedy] * 6  # six of the eight threads
    fill(other, 3, lane="interactive")
    assert taken(queue, 8) == [other] * 3


def test_claiming_is_fast_with_100_000_queued_items(fill: Fill, queue: StageQueue) -> None:
    workspaces = [uuid4() for _ in range(200)]
    fill(uuid4(), 60_000, age=60)
    fill(uuid4(), 20_000, age=50, delay=3600)
    for workspace_id in workspaces:
        fill(workspace_id, 100, age=40)
    assert len(set(taken(queue, 50))) == 50


class TestStageQueue(WorkConformance):
    @pytest.fixture
    async def case(self, queue_database: Any, fill: Fill) -> AsyncIterator[WorkCase]:
        async def add(workspace_id: UUID, count: int) -> None:
            fill(workspace_id, count, stages=("convert",))

        async with Database(queue_database.service).opened() as pool:
            yield WorkCase(
                lambda owner, lease_seconds: WorkQueue(pool, stage_work(3), lease_seconds, owner),
                add,
                Notifications(queue_database.service, "ingestion_queue"),
                "succeeded",
                parameters={"lane": Lane.bulk},
            )
