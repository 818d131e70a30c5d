"""The events of a run outlive Redis: followers get the same facts from PostgreSQL, and the text as one delta."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from redis.asyncio import Redis

from contracts.run_events import MessageDelta, StageCompleted, StageStarted, run_stream
from orchestrator.app import writing_redis
from orchestrator.runs import events as run_events
from orchestrator.runs.events import RunEvents

PIECES = ["Tokens expire ", "after ", "fifteen ", "minutes ", "[1]."]
WHOLE = "Tokens expire after fifteen minutes [1]."


def facts(events: list[Any]) -> list[Any]:
    """Returns all events except deltas of the text."""
    return [event for event in events if event.name not in ("message_delta", "message_restarted", "sentence")]


def shown(events: list[Any]) -> str:
    """Returns what the deltas alone show."""
    text = ""
    for event in events:
        if event.name == "message_restarted":
            text = ""
        elif event.name == "message_delta":
            text += event.data["text"]
    return text


def names(events: list[Any]) -> list[str]:
    return [event.name for event in events]


async def executed(settings: Any, statement: str) -> int:
    url = settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        return (await connection.execute(statement.encode())).rowcount


class Pause:
    """Holds the model back before the third piece."""

    def __init__(self) -> None:
        self.reached, self.over = asyncio.Event(), asyncio.Event()

    async def __call__(self, at: int) -> None:
        if at == 2:
            self.reached.set()
            await self.over.wait()


async def test_after_the_stream_expires_the_facts_and_the_text_remain(
    start: Any, model_settings: Any, world: Any, redis_url: str
) -> None:
    world.answer = PIECES
    async with start(model_settings) as service, Redis.from_url(redis_url) as redis:
        run = await service.ask(await service.session())
        live = await service.events(run["id"])
        assert 0 < await redis.ttl(run_stream(run["id"])) <= model_settings.run_stream_ttl
        await redis.delete(run_stream(run["id"]))
        rebuilt = await service.events(run["id"])
        middle = live[len(live) // 2]
        rest = await service.events(run["id"], middle.id)
        path = f"/v1/runs/{run['id']}/events"
        again = await service.client.get(path, headers={"Last-Event-ID": rebuilt[-1].id})
    assert [event.id for event in live] == [f"1-{number}" for number in range(1, len(live) + 1)]
    assert facts(rebuilt) == facts(live)
    assert names(rebuilt).count("message_delta") == 1
    assert "message_restarted" not in names(rebuilt)
    assert shown(rebuilt) == shown(live) == WHOLE
    assert names(live).index("message_completed") < names(live).index("run_completed")
    assert facts(rest) == facts(live[live.index(middle) + 1 :])
    assert again.status_code == 204


async def test_flushing_redis_midway_loses_no_fact(start: Any, model_settings: Any, world: Any, redis_url: str) -> None:
    pause = world.pace = Pause()
    world.answer = PIECES
    async with start(model_settings) as service, Redis.from_url(redis_url) as redis, asyncio.timeout(120):
        run = await service.ask(await service.session())
        following = await service.following(run["id"])
        await pause.reached.wait()
        await redis.delete(run_stream(run["id"]))
        pause.over.set()
        seen = await following
        later = await service.events(run["id"])
    assert facts(seen) == facts(later)
    assert shown(seen) == shown(later) == WHOLE
    assert names(seen)[-1] == "run_completed"


async def test_a_run_can_be_followed_to_its_end_without_redis(start: Any, settings: Any, unused_port: int) -> None:
    away = settings.model_copy(update={"redis_url": type(settings.redis_url)(f"redis://127.0.0.1:{unused_port}/0")})
    async with start(away) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        path = f"/v1/runs/{run['id']}/events"
        again = await service.client.get(path, headers={"Last-Event-ID": events[-1].id})
    assert names(events)[0] == "run_started"
    assert names(events)[-2:] == ["stage_completed", "run_completed"]
    assert shown(events) == events[-1].data["content"]
    assert again.status_code == 204


@pytest.mark.parametrize(("days", "left"), [(29, True), (31, False)])
async def test_events_are_kept_for_thirty_days(start: Any, settings: Any, days: int, left: bool) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
    assert await executed(settings, f"UPDATE run_event SET created_at = now() - interval '{days} days'") > 0
    async with start(settings) as service, asyncio.timeout(120):
        # Housekeeping looks when a process starts; another run is through well after it.
        await service.events((await service.ask(await service.session()))["id"])
        while (await executed(settings, f"SELECT FROM run_event WHERE run_id = '{run['id']}'") > 0) is not left:
            await service.events((await service.ask(await service.session()))["id"])


async def test_a_heartbeat_stores_the_events_so_far(start: Any, model_settings: Any, world: Any) -> None:
    pause = world.pace = Pause()
    world.answer = PIECES
    async with start(model_settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        await pause.reached.wait()
        kept = f"SELECT FROM run_event WHERE run_id = '{run['id']}' AND name = 'stage_started'"
        while await executed(model_settings, kept) < 3:
            await service.run(run["id"])
        pause.over.set()
        await service.events(run["id"])


async def test_two_hundred_concurrent_runs_lose_no_event(settings: Any) -> None:
    async with writing_redis(settings) as redis, asyncio.timeout(120):
        writing = [RunEvents(redis, uuid4(), 1, 60) for _ in range(200)]
        for _ in range(3):
            for events in writing:
                events.emit(MessageDelta(text="word "))
            await asyncio.gather(*(events.flush() for events in writing))
        assert not any(events.lost for events in writing)
        for events in writing:
            assert [entry for entry, _ in await redis.xrange(run_stream(events.run_id))] == [b"1-1", b"1-2", b"1-3"]


async def test_a_stage_is_told_with_the_text_that_follows_or_when_it_ends(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_events, "GATHER_SECONDS", 60.0)
    async with writing_redis(settings) as redis, asyncio.timeout(120):
        events = RunEvents(redis, uuid4(), 1, 60)
        stream = run_stream(events.run_id)
        reading = asyncio.create_task(redis.xread({stream: "0-0"}, block=60_000))
        events.emit(StageStarted(stage="reply_to_general_input", label="Writing the answer"))
        assert await redis.xrange(stream) == []
        events.emit(MessageDelta(text="word "))
        [(_, told)] = await reading
        assert [entry for entry, _ in told] == [b"1-1", b"1-2"]
        events.emit(StageCompleted(stage="reply_to_general_input"))
        await events.flush()
        assert len(await redis.xrange(stream)) == 3
