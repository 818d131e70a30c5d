"""Messages sent in quick succession leave nothing behind when they are cancelled."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psutil
import psycopg
import pytest

USERS, EACH = 5, 100
AT_A_TIME = 10  # requests of a user; more would wait too long for a connection where the machine is slow
LEVELS = """SELECT
    (SELECT count(*) FROM run WHERE state IN ('queued', 'running')),
    (SELECT count(*) FROM run WHERE lease_token IS NOT NULL),
    (SELECT count(*) FROM checkpoints),
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle')"""
MOST_MEGABYTES = 60
# httpcore2 closes idle connections as part of a request; if that one is cancelled meanwhile, it leaves the others to
# the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


async def forever(_: int) -> None:
    await asyncio.Event().wait()


async def levels(settings: Any) -> tuple[int, ...]:
    """Returns how many runs, leases, checkpoints and busy connections there are, this one included."""
    url = settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        return await (await connection.execute(LEVELS)).fetchone()


async def burst(service: Any, caller: Callable[[], dict[str, str]], messages: int) -> set[str]:
    """Sends messages to one session, each a new beginning, then cancels them; returns how their runs ended."""
    session = (await service.client.post("/v1/sessions", json={}, headers=caller())).json()["id"]
    turns = asyncio.Semaphore(AT_A_TIME)

    async def sent(at: int) -> str:
        async with turns:
            body = {"content": f"{at}?", "parent_id": None}
            answer = await service.client.post(f"/v1/sessions/{session}/messages", json=body, headers=caller())
        assert answer.status_code == 202
        return str(answer.json()["id"])

    async def cancelled(run_id: str) -> str:
        async with turns:
            await service.client.post(f"/v1/runs/{run_id}/cancel", headers=caller())
            async with service.client.stream("GET", f"/v1/runs/{run_id}/events", headers=caller()) as response:
                await response.aread()
            return str((await service.client.get(f"/v1/runs/{run_id}", headers=caller())).json()["status"])

    ids = await asyncio.gather(*(sent(at) for at in range(messages)))
    return set(await asyncio.gather(*map(cancelled, ids)))


@pytest.mark.timeout(600)
async def test_a_cancelled_burst_returns_all_resources_to_their_previous_level(
    start: Any, model_settings: Any, world: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    world.pace = forever
    callers = [partial(auth_headers, user_id=uuid4()) for _ in range(USERS)]  # a fresh token for each request
    async with start(model_settings) as service:

        async def whole(messages: int) -> set[str]:
            return set().union(*await asyncio.gather(*(burst(service, caller, messages) for caller in callers)))

        assert await whole(8) == {"cancelled"}  # what is built once, is built
        gc.collect()
        tasks, memory = len(asyncio.all_tasks()), psutil.Process().memory_info().rss
        assert await whole(EACH) == {"cancelled"}
        async with asyncio.timeout(120):
            while await levels(model_settings) != (0, 0, 0, 1) or len(asyncio.all_tasks()) > tasks:  # noqa: ASYNC110
                await asyncio.sleep(0.05)  # the last checkpoints are deleted after the last event
        gc.collect()
        grown = (psutil.Process().memory_info().rss - memory) / 2**20
        metrics = (await service.client.get("/metrics")).text
    assert "attractor_runs_active 0.0" in metrics
    assert grown < MOST_MEGABYTES


STREAMS = 200


@pytest.mark.timeout(600)
async def test_two_hundred_concurrent_answers_all_reach_their_readers_complete(
    start: Any,
    model_settings: Any,
    world: Any,
    auth_headers: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All answers end at once and wait for a few connections, for as long as it takes.
    monkeypatch.setattr("service_kit.postgres.POOL_TIMEOUT_SECONDS", 300.0)
    opened, all_open, turns = 0, asyncio.Event(), asyncio.Semaphore(AT_A_TIME)

    async def when_all_are_open(_: int) -> None:
        await all_open.wait()

    async def begun(client: httpx2.AsyncClient, user: UUID) -> str:
        """Asks again while the service says that it has no connection free."""
        while (answer := await client.post("/v1/sessions", json={}, headers=auth_headers(user_id=user))).is_error:
            assert answer.status_code == 503, answer.text
        return str(answer.json()["id"])

    async def followed(client: httpx2.AsyncClient, user: UUID) -> list[str]:
        async with turns:
            session = await begun(client, user)
        headers = {**auth_headers(user_id=user), "Accept": "text/event-stream"}
        asked = {"content": "How long are tokens valid?"}
        path = f"/v1/sessions/{session}/messages"
        async with client.stream("POST", path, json=asked, headers=headers) as response:
            nonlocal opened
            opened += 1
            if opened == STREAMS:
                all_open.set()
            return [line async for line in response.aiter_lines()]

    world.answer, world.pace = ["Tokens expire ", "after fifteen minutes."], when_all_are_open
    users = [uuid4() for _ in range(USERS)]
    limits = httpx2.Limits(max_connections=None)
    async with (
        start(model_settings.model_copy(update={"run_concurrency": STREAMS, "database_pool_size": 24})) as service,
        httpx2.AsyncClient(base_url=service.client.base_url, timeout=300, limits=limits) as client,
    ):
        streams = await asyncio.gather(*(followed(client, users[at % USERS]) for at in range(STREAMS)))
    for lines in streams:
        ids = [line.removeprefix("id: ") for line in lines if line.startswith("id: ")]
        assert ids == [f"1-{number + 1}" for number in range(len(ids))]
        assert "event: run_completed" in lines
