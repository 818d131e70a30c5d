"""Tokens are reserved before a call, and settled however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from contracts.run_events import RunEventData
from inference.calls import CallEnd, ModelCall
from inference.chat import ChatDelta, Usage
from inference.errors import StreamCut
from orchestrator.usage.metering import BudgetUsedUp, CallMeter
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.postgres import Database

SENT, MOST = 60, 40


@pytest.fixture
def urls(make_database: Callable[[str], Any]) -> Any:
    return make_database("orchestrator")


@pytest.fixture
async def database(urls: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    # A hundred calls wait for a few connections, for as long as it takes.
    monkeypatch.setattr("service_kit.postgres.POOL_TIMEOUT_SECONDS", 300.0)
    async with Database(urls.service, 6).opened() as database:
        yield database


def stored(urls: Any, statement: str) -> list[Any]:
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path TO orchestrator")
        return connection.execute(statement.encode()).fetchall()


def new_call() -> ModelCall:
    return ModelCall("answer", "operator", "small", SENT, MOST)


def meter(database: Database, limits: TokenLimits, spender: Spender | None = None) -> tuple[CallMeter, list[Any]]:
    told: list[RunEventData] = []
    whose = spender or Spender(uuid4(), uuid4(), uuid4(), uuid4(), 1)
    return CallMeter(database, whose, limits, told.append), told


async def test_concurrent_calls_exceed_their_budget_by_one_call_at_most(database: Database, urls: Any) -> None:
    counting, _ = meter(database, TokenLimits(workspace=10 * (SENT + MOST), user=1_000_000))
    decided, admitted, refused = asyncio.Event(), 0, 0

    async def ask() -> None:
        nonlocal admitted, refused
        call = new_call()
        try:
            async with counting.metered(call):
                admitted += 1
                if admitted + refused == 100:
                    decided.set()
                await decided.wait()
                call.note(ChatDelta("x", usage=Usage(SENT, MOST)))
                call.end = CallEnd.completed
        except BudgetUsedUp:
            refused += 1
            if admitted + refused == 100:
                decided.set()

    await asyncio.gather(*(ask() for _ in range(100)))
    assert (admitted, refused) == (10, 90)
    budgets = stored(urls, "SELECT subject, used, reserved FROM token_budget ORDER BY subject")
    assert budgets == [("user", 1_000, 0), ("workspace", 1_000, 0)]
    assert stored(urls, "SELECT count(*), count(ended) FROM model_call") == [(10, 10)]


async def test_after_a_thousand_calls_with_any_ending_no_reservation_is_left(database: Database, urls: Any) -> None:
    counting, _ = meter(database, TokenLimits(10**9, 10**9, 10**9, 10**9))

    async def ask(kind: int, spoken: asyncio.Event) -> None:
        call = new_call()
        async with counting.metered(call):
            if kind == 0:
                call.end = CallEnd.failed
                raise StreamCut
            call.note(ChatDelta("word"))
            spoken.set()
            if kind == 1:
                call.end = CallEnd.cut
                raise StreamCut
            if kind == 2:
                await asyncio.Event().wait()
            call.note(ChatDelta(usage=Usage(50, 7)))
            call.end = CallEnd.completed

    async def ended(number: int) -> None:
        spoken = asyncio.Event()
        task = asyncio.create_task(ask(number % 4, spoken))
        if number % 4 == 2:
            # Half of them while the tokens are being reserved.
            await (asyncio.sleep(0) if number % 8 == 6 else spoken.wait())
            task.cancel()
        await asyncio.wait({task})
        assert task.cancelled() == (number % 4 == 2)
        assert task.cancelled() or isinstance(task.exception(), StreamCut | None)

    for first in range(0, 1000, 20):
        await asyncio.gather(*(ended(number) for number in range(first, first + 20)))
    sums = stored(urls, "SELECT sum(reserved), count(*) FROM token_budget")
    assert sums == [(0, 4)]
    took = stored(urls, "SELECT sum(input_tokens + output_tokens) FROM model_call")
    used = stored(urls, "SELECT DISTINCT used FROM token_budget")
    assert used == took
    kinds = stored(urls, "SELECT DISTINCT ended FROM model_call ORDER BY 1")
    assert {"cancelled", "completed", "cut", "failed"} == {kind for (kind,) in kinds}


async def test_reservations_of_a_dead_process_are_counted_and_released(database: Database, urls: Any) -> None:
    """Simulates a dead process: no run is in progress here, so any open call belongs to a process that has died."""
    workspace_id = uuid4()
    dead, _ = meter(database, TokenLimits(workspace=150), Spender(workspace_id, uuid4(), None, uuid4(), 1))
    await dead._begin(uuid4(), new_call())
    alive, told = meter(database, TokenLimits(workspace=150), Spender(workspace_id, uuid4()))
    async with alive.metered(call := new_call()):
        call.end = CallEnd.failed
    assert stored(urls, "SELECT used, reserved FROM token_budget") == [(0, 100)]
    assert told[0].message == "133 % of the 150 tokens of the workspace a day are used or reserved"
    async with alive.metered(new_call()):
        with pytest.raises(BudgetUsedUp):
            async with alive.metered(new_call()):
                raise AssertionError
    assert stored(urls, "SELECT count(*) FROM model_call WHERE ended = 'lost'") != [(0,)]
    assert stored(urls, "SELECT reserved FROM token_budget") == [(0,)]


async def test_a_budget_set_later_includes_previous_usage(database: Database) -> None:
    spender = Spender(uuid4(), uuid4(), None, uuid4(), 1)
    before, _ = meter(database, TokenLimits(), spender)
    async with before.metered(call := new_call()):
        call.note(ChatDelta(usage=Usage(SENT, MOST)))
        call.end = CallEnd.completed
    after, _ = meter(database, TokenLimits(user=100), spender)
    with pytest.raises(BudgetUsedUp, match=r"all of the 100 tokens of the user a day are used, until .*T00:00Z"):
        async with after.metered(new_call()):
            raise AssertionError
