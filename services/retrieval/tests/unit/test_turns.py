"""Whose search runs next if several workspaces search."""

import asyncio
from uuid import UUID

import pytest

from retrieval.search.turns import ACTIVE_SECONDS, SearchTurns

GREEDY, OTHER = UUID(int=1), UUID(int=2)


class Clock:
    time = 100.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def turns(clock):
    return SearchTurns(4, clock)


class Search:
    def __init__(self, turns, workspace_id):
        self.turns, self.workspace_id = turns, workspace_id
        self.may_end, self.is_running = asyncio.Event(), False
        self.task = asyncio.create_task(self.run())

    async def run(self):
        async with self.turns.turn(self.workspace_id):
            self.is_running = True
            await self.may_end.wait()
        self.is_running = False

    async def end(self):
        self.may_end.set()
        await self.task
        await settled()


async def settled():
    for _ in range(5):
        await asyncio.sleep(0)


def running(searches):
    return [search for search in searches if search.is_running]


async def test_a_single_active_workspace_may_run_several_searches_at_once(turns):
    searches = [Search(turns, GREEDY) for _ in range(6)]
    await settled()
    assert running(searches) == searches[:4]
    await searches[0].end()
    assert running(searches) == searches[1:5]
    for search in searches:
        search.may_end.set()
    await asyncio.gather(*(search.task for search in searches))
    assert not turns.running
    assert not turns.waiting


async def test_another_workspace_is_admitted_at_once_and_gets_its_share(turns):
    greedy = [Search(turns, GREEDY) for _ in range(10)]
    await settled()
    other = Search(turns, OTHER)
    await settled()
    assert other.is_running
    for search in greedy[:4]:
        await search.end()
    assert running(greedy) == [greedy[4]]
    await other.end()
    again = Search(turns, OTHER)
    await settled()
    assert again.is_running
    for search in (again, *greedy):
        search.may_end.set()
    await asyncio.gather(*(search.task for search in greedy))


async def test_an_idle_workspace_has_no_share(turns, clock):
    await Search(turns, OTHER).end()
    assert turns._share() == 4
    one = Search(turns, GREEDY)
    await settled()
    assert turns._share() == 1
    clock.time += ACTIVE_SECONDS + 1
    await one.end()
    assert turns._share() == 4


async def test_a_cancelled_waiter_leaves_the_queue(turns):
    searches = [Search(turns, GREEDY) for _ in range(6)]
    await settled()
    searches[4].task.cancel()
    await settled()
    await searches[0].end()
    assert searches[5].is_running
    for search in searches:
        search.may_end.set()
    await asyncio.gather(*(search.task for search in searches), return_exceptions=True)
    assert not turns.running
    assert not turns.waiting


async def test_a_turn_granted_during_cancellation_is_passed_on(turns):
    searches = [Search(turns, GREEDY) for _ in range(6)]
    await settled()
    searches[0].may_end.set()
    await asyncio.sleep(0)  # the first ends and passes its turn to the fifth
    searches[4].task.cancel()
    await settled()
    assert searches[5].is_running
    for search in searches:
        search.may_end.set()
    await asyncio.gather(*(search.task for search in searches), return_exceptions=True)
    assert not turns.running
