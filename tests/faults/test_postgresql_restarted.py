"""Runs in progress, queued runs and later ones survive a crash of PostgreSQL and its recovery.

This module has its own servers, so no other test's connections are cut.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from orchestrator_service import orchestrator_fixtures
from real_engines import RealEngines, addresses

from contracts.run_events import RUN_EVENTS
from embedded.engines import Engines

service_tests = orchestrator_fixtures()
audience, world, others = service_tests.audience, service_tests.world, service_tests.others
settings, model_settings, start = service_tests.settings, service_tests.model_settings, service_tests.start
image_bucket = service_tests.image_bucket

TERMINAL = {event.name for event in RUN_EVENTS if event.terminal}
PIECES = ["Tokens expire ", "after ", "fifteen ", "minutes ", "[1]."]
WHOLE = "Tokens expire after fifteen minutes [1]."


@pytest.fixture(scope="module")
def own_engines() -> Iterator[Engines]:
    with Engines.temporary() as running:
        yield running


@pytest.fixture(scope="module")
def engines(own_engines: Engines) -> RealEngines:
    """Replaces the session's servers by ones that keep committed data on a crash."""
    return addresses(own_engines)


def crash(engines: Engines) -> None:
    """Stops PostgreSQL immediately, as in a crash; returns when it has ended."""
    child = engines.postgres.child
    assert child is not None
    os.kill(child.pid, signal.SIGQUIT)
    child.wait(60)


async def recovered(engines: Engines) -> None:
    """Starts PostgreSQL again, which recovers committed data."""
    engines.postgres.launch()
    await asyncio.to_thread(engines.postgres.wait_ready)


def shown(events: list[Any]) -> str:
    """Returns what a client that follows the events shows."""
    text = ""
    for event in events:
        if event.name == "message_delta":
            text += event.data["text"]
        elif event.name == "message_restarted":
            text = ""
    return text


async def ask_with_retries(service: Any, session: str) -> dict[str, Any]:
    """Asks like a client, which retries with the same key while the service is unavailable."""
    path, headers = f"/v1/sessions/{session}/messages", {"Idempotency-Key": "later"}
    while (response := await service.client.post(path, json={"content": "And?"}, headers=headers)).status_code != 202:
        assert response.status_code == 503, response.text
        await asyncio.sleep(0.2)  # until PostgreSQL is back, which has no event
    return dict(response.json())


async def followed(service: Any, run_id: str) -> list[Any]:
    """Follows like a client, which retries if the stream could not start."""
    while True:
        async with service.client.stream("GET", f"/v1/runs/{run_id}/events") as response:
            if response.status_code == 200:
                return [event async for event in service_tests.received(response)]
            assert response.status_code == 503, await response.aread()
        await asyncio.sleep(0.2)  # as above


@pytest.mark.timeout(600)
async def test_each_accepted_run_ends_once_after_postgresql_crashes(
    start: Any, model_settings: Any, world: Any, own_engines: Engines
) -> None:
    world.answer = PIECES
    reached, over = asyncio.Event(), asyncio.Event()

    async def pace(at: int) -> None:
        if at == 2:
            reached.set()
            await over.wait()

    world.pace = pace
    async with start(model_settings.model_copy(update={"run_concurrency": 1})) as service, asyncio.timeout(300):
        under_way = await service.ask(await service.session(title="t"))
        await reached.wait()
        waiting = await service.ask(await service.session(title="t"))
        following = [asyncio.create_task(followed(service, run["id"])) for run in (under_way, waiting)]
        await asyncio.to_thread(crash, own_engines)
        over.set()
        await recovered(own_engines)
        endings = await asyncio.gather(*following)
        later = await ask_with_retries(service, under_way["session_id"])
        endings.append(await service.events(later["id"]))
        for run, events in zip((under_way, waiting, later), endings, strict=True):
            ended = await service.run(run["id"])
            assert (ended["status"], ended["answer"]["content"]) == ("completed", WHOLE)
            assert shown(events) == shown(await service.events(run["id"])) == WHOLE
            assert [event.name for event in events if event.name in TERMINAL] == ["run_completed"]
