"""Leased work in a test table: the common guarantees, cancellation of holders, and a killed process."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

import psycopg
import pytest
from work_conformance import LEASE_SECONDS, WorkCase, WorkConformance

from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.telemetry import Metrics
from service_kit.work import StopAsked, WorkQueue, WorkTable
from service_kit.worker import Worker, uninterrupted, while_held

TABLES = """
SET search_path = kit_work, public;
CREATE TABLE job (
    workspace_id uuid NOT NULL,
    id integer GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL DEFAULT 'queued',
    available_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts integer NOT NULL DEFAULT 0,
    lease_token uuid,
    lease_owner text,
    lease_expires_at timestamptz,
    urgent boolean NOT NULL DEFAULT false,
    cancelled boolean NOT NULL DEFAULT false,
    asked_by text NOT NULL DEFAULT 'nobody',
    progress integer,
    finished_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
SELECT protect_queue('job');
SELECT wake_workers('job', 'job_queued');
CREATE INDEX job_waiting ON job (workspace_id, available_at) WHERE state = 'queued';
CREATE INDEX job_held ON job (workspace_id, lease_token) WHERE lease_token IS NOT NULL;
"""
HOLDER = """
import asyncio, sys
from dataclasses import dataclass
from uuid import UUID
from service_kit.postgres import Database
from service_kit.work import WorkQueue, WorkTable

@dataclass(frozen=True)
class Job:
    workspace_id: UUID
    id: int
    lease_token: UUID

async def hold():
    async with Database(sys.argv[1], 1).opened() as database:
        queue = WorkQueue(database, WorkTable("job", Job, "kit_work_job_queued"), 0.5)
        [held] = await queue.claim(1)
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(hold())
"""


@dataclass(frozen=True)
class Job:
    workspace_id: UUID
    id: int
    lease_token: UUID
    attempts: int
    doubled: int


JOBS = WorkTable(
    "job",
    Job,
    "kit_work_job_queued",
    computed={"doubled": "2 * work.attempts"},
    priority="work.urgent::integer",
    stop="work.cancelled",
    on_finish="finished_at = now()",
)


@pytest.fixture
def url(make_database) -> str:
    urls = make_database("kit_work")
    with psycopg.connect(urls.admin) as admin:
        admin.execute(TABLES)
    return urls.service


@pytest.fixture
async def database(url) -> AsyncIterator[Database]:
    async with Database(url, 6).opened() as opened:
        yield opened


@pytest.fixture
def case(database, url) -> WorkCase:
    async def add(workspace_id: UUID, count: int) -> None:
        async with database.workspace(workspace_id) as connection:
            for _ in range(count):
                await connection.execute("INSERT INTO job (workspace_id) VALUES (%s)", (workspace_id,))

    return WorkCase(
        queue=lambda owner, lease_seconds: WorkQueue(database, JOBS, lease_seconds, owner),
        add=add,
        notifications=Notifications(url, JOBS.channel),
        finished="done",
    )


class TestJobQueue(WorkConformance):
    @pytest.fixture
    def case(self, case) -> WorkCase:
        return case


async def test_urgent_work_comes_first_regardless_of_workspace(case):
    await case.add(uuid4(), 2)
    urgent = uuid4()
    await case.add(urgent, 3)
    async with case.queue("any", LEASE_SECONDS).database.workspace(urgent) as connection:
        await connection.execute("UPDATE job SET urgent = true")
    assert [held.workspace_id for held in await case.claim("first", 3)] == [urgent] * 3


async def test_workspaces_take_turns_and_so_do_the_users_in_each(case):
    queue = WorkQueue(case.queue("any", LEASE_SECONDS).database, replace(JOBS, user="asked_by"), LEASE_SECONDS)
    shared, other = uuid4(), uuid4()
    for workspace_id, user, count in ((shared, "busy", 9), (shared, "patient", 2), (other, "alone", 2)):
        async with queue.database.workspace(workspace_id) as connection:
            for _ in range(count):
                await connection.execute(
                    "INSERT INTO job (workspace_id, asked_by) VALUES (%s, %s)", (workspace_id, user)
                )
    rows = {row["id"]: row["asked_by"] for row in await case.rows()}
    assert Counter([rows[held.id] for held in await queue.claim(4)]) == {"busy": 1, "patient": 1, "alone": 2}
    assert [rows[held.id] for held in [*await queue.claim(1), *await queue.claim(1)]] in (
        ["busy", "patient"],
        ["patient", "busy"],
    )
    assert {rows[held.id] for held in await queue.claim(10)} == {"busy"}


async def test_all_leases_of_a_process_are_extended_by_one_statement(case, monkeypatch):
    queue = case.queue("first", 1.5)
    await case.add(uuid4(), 3)
    await case.add(uuid4(), 2)
    held = await queue.claim(5)
    together, all_of_them = queue.extend_together, asyncio.Event()

    async def counted(asked):
        stops = await together(asked)
        if len(asked) == len(stops) == 5:
            all_of_them.set()
        return stops

    monkeypatch.setattr(queue.heartbeat, "_extend", counted)
    async with asyncio.timeout(120):
        await asyncio.gather(*(while_held(queue, one, all_of_them.wait()) for one in held))


async def test_items_sharing_a_heartbeat_are_stopped_individually(case):
    queue = case.queue("first", 1.5)
    await case.add(uuid4(), 2)
    stopped, held = await queue.claim(2)
    async with queue.database.workspace(stopped.workspace_id) as connection:
        await connection.execute("UPDATE job SET cancelled = true WHERE id = %s", (stopped.id,))
    over = asyncio.Event()
    other = asyncio.create_task(while_held(queue, held, over.wait()))
    async with asyncio.timeout(120):
        with pytest.raises(StopAsked):
            await while_held(queue, stopped, asyncio.Event().wait())
    over.set()
    assert await other


async def test_no_workspace_exceeds_its_limit_under_concurrent_claims(case):
    queue = WorkQueue(case.queue("any", LEASE_SECONDS).database, replace(JOBS, most="3"), LEASE_SECONDS)
    greedy, other = uuid4(), uuid4()
    await case.add(greedy, 9)
    claims = await asyncio.gather(*(queue.claim(2) for _ in range(6)))
    held = [one for claimed in claims for one in claimed]
    assert [one.workspace_id for one in held] == [greedy] * 3
    await case.add(other, 2)
    assert [one.workspace_id for one in await queue.claim(2)] == [other] * 2
    await case.finish(held[0])
    assert [one.workspace_id for one in await queue.claim(2)] == [greedy]


async def test_a_claim_returns_computed_values(case):
    await case.add(uuid4(), 1)
    [held] = await case.claim("first", 1)
    assert (held.attempts, held.doubled) == (1, 2)


async def test_each_transition_can_write_extra_columns(case):
    queue = case.queue("first", LEASE_SECONDS)
    await case.add(uuid4(), 1)
    [held] = await case.claim("first", 1)
    async with queue.database.workspace(held.workspace_id) as connection:
        await queue.extend(connection, held, progress=1)
        assert (await case.rows())[0]["progress"] is None  # until the transaction ends
    assert (await case.rows())[0]["progress"] == 1
    async with queue.database.workspace(held.workspace_id) as connection:
        await queue.release(connection, held, progress=2, urgent=True)
    [row] = await case.rows()
    assert (row["progress"], row["urgent"], row["state"]) == (2, True, "queued")
    [held] = await case.claim("first", 1)
    async with queue.database.workspace(held.workspace_id) as connection:
        await queue.finish(connection, held, "failed", progress=3)
    [row] = await case.rows()
    assert (row["progress"], row["state"], row["finished_at"] is None) == (3, "failed", False)


async def test_a_cancellation_reaches_the_holder_of_the_work(case):
    queue = case.queue("first", LEASE_SECONDS)
    await case.add(uuid4(), 1)
    [held] = await case.claim("first", 1)
    wake = asyncio.Event()
    async with queue.database.workspace(held.workspace_id) as connection:
        await connection.execute("UPDATE job SET cancelled = true")
    wake.set()
    with pytest.raises(StopAsked):
        await while_held(queue, held, asyncio.Event().wait(), wake=wake)


async def test_the_result_is_returned_and_progress_is_recorded_while_work_is_held(case):
    queue = case.queue("first", 1.5)  # extended twice a second
    await case.add(uuid4(), 1)
    [held] = await queue.claim(1)

    async def work() -> str:
        async with asyncio.timeout(120):
            while (await case.rows())[0]["progress"] != 7:  # noqa: ASYNC110  it is another task's statement
                await asyncio.sleep(0.05)
        return "result"

    assert await while_held(queue, held, work(), lambda: {"progress": 7}) == "result"


async def test_a_stopped_worker_hands_its_work_back(case):
    started = asyncio.Event()
    queue = case.queue("stopping", LEASE_SECONDS)

    async def give_back(held: Job) -> None:
        async with queue.database.workspace(held.workspace_id) as connection:
            await queue.release(connection, held, refund=True)

    async def execute(held: Job) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await uninterrupted(give_back(held))

    await case.add(uuid4(), 2)
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(Background(Metrics()))
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", Worker(queue, execute, case.notifications, 2).run)
        await started.wait()
    assert {(row["state"], row["attempts"]) for row in await case.rows()} == {("queued", 0)}


async def test_a_stopped_worker_finishes_work_within_the_grace_period_and_hands_back_the_rest(case):
    started, asked, claimed, done = asyncio.Barrier(3), asyncio.Event(), list[int](), list[int]()
    queue = case.queue("stopping", LEASE_SECONDS)

    async def give_back(held: Job) -> None:
        async with queue.database.workspace(held.workspace_id) as connection:
            await queue.release(connection, held, refund=True)

    async def execute(held: Job) -> None:
        claimed.append(held.id)
        await started.wait()
        try:
            await asked.wait()
            if held.id == claimed[0]:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            await uninterrupted(give_back(held))
            raise
        await case.finish(held)
        done.append(held.id)

    await case.add(uuid4(), 3)
    worker = Worker(queue, execute, case.notifications, 2, on_stop=asked.set, grace_seconds=5.0)
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(Background(Metrics()))
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", worker.run)
        await started.wait()
        worker.stop()
    states = {row["id"]: (row["state"], row["attempts"]) for row in await case.rows()}
    assert done == claimed[1:]
    assert states.pop(done[0])[1] == 1
    assert set(states.values()) == {("queued", 0)}


async def test_a_database_outage_stops_claims_but_not_running_work(case, monkeypatch):
    away: list[Exception] = []
    started, over, done = asyncio.Queue[Job](), asyncio.Event(), asyncio.Queue[Job]()
    stopped, looked = asyncio.Event(), asyncio.Event()
    queue = case.queue("patient", 1.5)  # looks twice a second
    claim = queue.claim

    async def claimed(limit: int) -> list[Job]:
        if not away:
            looked.set()
            return await claim(limit)
        raise away.pop(0)

    async def execute(held: Job) -> None:
        started.put_nowait(held)
        await while_held(queue, held, over.wait())
        await case.finish(held)
        done.put_nowait(held)

    monkeypatch.setattr(queue, "claim", claimed)
    await case.add(uuid4(), 1)
    # Three: a claim that is under way may bring the second job, and the worker must look again all the same
    worker = Worker(queue, execute, case.notifications, 3, on_stop=stopped.set)
    async with Background(Metrics()) as tasks, asyncio.timeout(120):
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", worker.run)
        first = await started.get()
        away += [psycopg.OperationalError("the server closed the connection"), Unavailable("no connection in time")]
        looked.clear()
        await case.add(uuid4(), 1)
        await looked.wait()
        assert not away
        over.set()
        assert first in [await done.get(), await done.get()]
        assert not stopped.is_set()
        assert tasks.failing == {}


async def test_a_failed_worker_hands_its_work_back_and_can_be_restarted(case, monkeypatch):
    started, given_back, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    queue = case.queue("restarted", LEASE_SECONDS)
    claim = queue.claim

    async def broken(limit: int) -> list[Job]:
        if started.is_set() and not given_back.is_set():
            raise RuntimeError("a mistake")
        return await claim(limit)

    async def give_back(held: Job) -> None:
        async with queue.database.workspace(held.workspace_id) as connection:
            await queue.release(connection, held, refund=True)
        given_back.set()

    async def execute(held: Job) -> None:
        if given_back.is_set():
            await case.finish(held)
            done.set()
            return
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await uninterrupted(give_back(held))

    monkeypatch.setattr(queue, "claim", broken)
    await case.add(uuid4(), 1)
    worker = Worker(queue, execute, case.notifications, 2)
    async with Background(Metrics()) as tasks, asyncio.timeout(120):
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", worker.run)
        await started.wait()
        await case.add(uuid4(), 1)  # has it look
        await done.wait()


async def test_a_shielded_step_completes_despite_repeated_cancellation():
    started, end, ended = asyncio.Event(), asyncio.Event(), list[str]()

    async def work() -> None:
        started.set()
        await end.wait()
        ended.append("ended")

    task = asyncio.create_task(uninterrupted(work()))
    await started.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["ended"]


async def test_a_worker_continues_after_an_item_fails(case):
    done: asyncio.Queue[Job] = asyncio.Queue()

    async def execute(held: Job) -> None:
        if held.id == 1:
            raise ValueError(held.id)
        await case.finish(held)
        done.put_nowait(held)

    async with Background(Metrics()) as tasks, asyncio.timeout(120):
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", Worker(case.queue("any", LEASE_SECONDS), execute, case.notifications, 1).run)
        await case.add(uuid4(), 2)
        assert (await done.get()).id == 2
    assert [row["state"] for row in await case.rows()] == ["running", "done"]


async def test_work_held_by_a_killed_process_is_taken_over(case, url):
    await case.add(uuid4(), 1)
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, url, stdout=asyncio.subprocess.PIPE)
    assert holder.stdout
    assert await holder.stdout.readline() == b"held\n"
    holder.kill()
    await holder.wait()
    done: asyncio.Queue[Job] = asyncio.Queue()

    async def execute(held: Job) -> None:
        await case.finish(held)
        done.put_nowait(held)

    async with Background(Metrics()) as tasks, asyncio.timeout(120):
        tasks.start("notifications", case.notifications.run)
        tasks.start("worker", Worker(case.queue("heir", 0.5), execute, case.notifications, 1).run)
        assert (await done.get()).attempts == 2
