"""The conformance suite for tables of leased work, which the owner of each table runs against the real one.

class TestRunQueue(WorkConformance):
    @pytest.fixture
    async def case(self, database: Database) -> WorkCase: ...
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.telemetry import Metrics
from service_kit.work import LeaseLost, WorkQueue
from service_kit.worker import Worker, while_held

LEASE_SECONDS = 3_600.0  # so long that nothing expires during a test


@dataclass(frozen=True)
class WorkCase:
    """A table in an empty database.

    `queue(owner, lease_seconds)` opens it for one process. `add(workspace_id, count)` queues due items, in order, each
    of which may start at once. `notifications` listen on the table's channel, but are not running yet. `finished` is a
    state of finished work, `ending` the further columns set at its end, `parameters` those of each claim.
    """

    queue: Callable[[str, float], WorkQueue[Any]]
    add: Callable[[UUID, int], Awaitable[None]]
    notifications: Notifications
    finished: str
    ending: Mapping[str, object] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)

    async def claim(self, owner: str, limit: int) -> list[Any]:
        return await self.queue(owner, LEASE_SECONDS).claim(limit, **self.parameters)

    async def release(self, held: Any, **values: Any) -> None:
        queue = self.queue("any", LEASE_SECONDS)
        async with queue.database.workspace(held.workspace_id) as connection:
            await queue.release(connection, held, **values)

    async def finish(self, held: Any) -> None:
        queue = self.queue("any", LEASE_SECONDS)
        async with queue.database.workspace(held.workspace_id) as connection:
            await queue.finish(connection, held, self.finished, **self.ending)

    async def extend(self, held: Any) -> bool:
        queue = self.queue("any", LEASE_SECONDS)
        async with queue.database.workspace(held.workspace_id) as connection:
            return await queue.extend(connection, held)

    async def rows(self) -> list[Any]:
        """Returns the whole table, as JSON."""
        queue = self.queue("any", LEASE_SECONDS)
        statement = sql.SQL("SELECT to_jsonb(work) FROM {} AS work ORDER BY 1").format(sql.Identifier(queue.table.name))
        async with queue.database.system() as connection:
            return [row[0] for row in await (await connection.execute(statement)).fetchall()]

    async def expire(self) -> None:
        """Expires all leases, as if their process had died."""
        queue = self.queue("any", LEASE_SECONDS)
        statement = sql.SQL(
            "UPDATE {} SET lease_expires_at = now() - interval '1 second' WHERE lease_token IS NOT NULL"
        ).format(sql.Identifier(queue.table.name))
        async with queue.database.system() as connection:
            await connection.execute(statement)

    async def recover(self, processes: int = 1) -> int:
        """Returns how many lost leases several processes recovered at the same time."""
        queue = self.queue("any", LEASE_SECONDS)
        return sum(await asyncio.gather(*(queue.recover() for _ in range(processes))))


class WorkConformance:
    """Base class for the suite: derive from it and override the fixture."""

    @pytest.fixture
    def case(self) -> WorkCase:
        raise NotImplementedError

    async def test_each_item_is_claimed_once_under_concurrent_claims(self, case: WorkCase) -> None:
        await case.add(uuid4(), 6)
        claims = [held async for held in _rounds(case, owners=4, items=6)]
        tokens = [held.lease_token for held in claims]
        assert len(set(tokens)) == len(tokens) == 6
        assert await case.claim("late", 10) == []

    async def test_a_claim_records_its_owner_and_counts_the_attempt(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("first", 10)
        [row] = await case.rows()
        assert (row["lease_owner"], row["lease_token"]) == ("first", str(held.lease_token))
        assert row["attempts"] == 1

    async def test_a_claim_takes_no_more_than_requested(self, case: WorkCase) -> None:
        await case.add(uuid4(), 3)
        assert len(await case.claim("first", 2)) == 2
        assert len(await case.claim("second", 2)) == 1

    async def test_workspaces_take_turns(self, case: WorkCase) -> None:
        busy, quiet = uuid4(), uuid4()
        await case.add(busy, 8)
        await case.add(quiet, 2)
        first = Counter(held.workspace_id for held in await case.claim("first", 4))
        assert first == {busy: 2, quiet: 2}

    async def test_workspaces_with_less_work_in_progress_come_first(self, case: WorkCase) -> None:
        busy, quiet = uuid4(), uuid4()
        await case.add(busy, 8)
        assert len(await case.claim("first", 3)) == 3
        await case.add(quiet, 1)
        [held] = await case.claim("second", 1)
        assert held.workspace_id == quiet

    async def test_released_work_is_claimed_again_with_another_token(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("first", 1)
        await case.release(held)
        [again] = await case.claim("second", 1)
        assert again.lease_token != held.lease_token
        [row] = await case.rows()
        assert (row["lease_owner"], row["attempts"]) == ("second", 2)

    async def test_a_refunded_attempt_does_not_count(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("first", 1)
        await case.release(held, refund=True)
        await case.claim("second", 1)
        [row] = await case.rows()
        assert row["attempts"] == 1

    async def test_postponed_work_waits(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("first", 1)
        await case.release(held, delay_seconds=3_600)
        assert await case.claim("second", 1) == []

    async def test_finished_work_is_not_claimed_again(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("first", 1)
        await case.finish(held)
        assert await case.claim("second", 1) == []
        assert await case.recover() == 0
        [row] = await case.rows()
        assert (row["state"], row["lease_token"]) == (case.finished, None)

    async def test_work_held_by_a_dead_process_is_taken_over_exactly_once(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("dead", 1)
        assert await case.recover() == 0  # as long as the lease lasts
        await case.expire()
        assert await case.recover(processes=4) == 1
        taken = await asyncio.gather(*(case.claim(f"heir {number}", 1) for number in range(4)))
        [over] = [held for claimed in taken for held in claimed]
        assert over.lease_token != held.lease_token

    async def test_an_extended_lease_does_not_expire(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("slow", 1)
        await case.expire()
        assert not await case.extend(held)
        assert await case.recover() == 0

    async def test_leases_are_extended_together_except_lost_ones_and_rows_being_written(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        await case.add(uuid4(), 1)
        queue = case.queue("slow", LEASE_SECONDS)
        stale, *_ = first = await case.claim("slow", 2)
        await case.expire()
        await case.recover()
        held = await case.claim("slow", 2)
        await case.expire()
        assert await queue.extend_together(first) == {}
        async with queue.database.workspace(held[0].workspace_id) as connection:
            await queue.extend(connection, held[0])
            assert await queue.extend_together([stale, *held]) == {held[1].lease_token: False}
        assert await case.recover() == 0
        assert await queue.extend_together(held) == {one.lease_token: False for one in held}

    async def test_a_stale_token_changes_nothing(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [stale] = await case.claim("slow", 1)
        await case.expire()
        await case.recover()
        await case.claim("heir", 1)
        before = await case.rows()
        for transition in (case.extend, case.release, case.finish):
            with pytest.raises(LeaseLost):
                await transition(stale)
        assert await case.rows() == before

    async def test_a_holder_presumed_dead_is_stopped(self, case: WorkCase) -> None:
        await case.add(uuid4(), 1)
        [held] = await case.claim("slow", 1)
        await case.expire()
        await case.recover()
        cancelled, wake = asyncio.Event(), asyncio.Event()
        wake.set()

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        with pytest.raises(LeaseLost):
            await while_held(case.queue("slow", LEASE_SECONDS), held, work(), wake=wake)
        assert cancelled.is_set()

    async def test_a_worker_is_woken_without_polling(self, case: WorkCase) -> None:
        done: asyncio.Queue[Any] = asyncio.Queue()

        async def execute(held: Any) -> None:
            await case.finish(held)
            done.put_nowait(held)

        worker = Worker(case.queue("worker", LEASE_SECONDS), execute, case.notifications, 2, **case.parameters)
        async with Background(Metrics()) as tasks, asyncio.timeout(120):
            tasks.start("notifications", case.notifications.run)
            tasks.start("worker", worker.run)
            for _ in range(2):  # the second time, the worker has already looked and found nothing
                await case.add(uuid4(), 2)
                await done.get()
                await done.get()

    async def test_a_worker_takes_over_from_a_dead_one(self, case: WorkCase) -> None:
        done: asyncio.Queue[Any] = asyncio.Queue()
        await case.add(uuid4(), 1)
        await case.claim("dead", 1)
        await case.expire()

        async def execute(held: Any) -> None:
            await case.finish(held)
            done.put_nowait(held)

        worker = Worker(case.queue("heir", LEASE_SECONDS), execute, case.notifications, 2, **case.parameters)
        async with Background(Metrics()) as tasks, asyncio.timeout(120):
            tasks.start("notifications", case.notifications.run)
            tasks.start("worker", worker.run)
            await done.get()


async def _rounds(case: WorkCase, owners: int, items: int) -> Any:
    """Yields what several processes claim, one item at a time, until all items are held."""
    claimed = 0
    async with asyncio.timeout(120):
        while claimed < items:
            for found in await asyncio.gather(*(case.claim(f"owner {number}", 1) for number in range(owners))):
                for held in found:
                    claimed += 1
                    yield held
