"""Temporary sessions: not listed, not found, not remembered, and erased a day after their last use."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import psycopg
from redis.asyncio import Redis

from contracts.events import TURNS, Event, TurnCompleted
from orchestrator.sessions.deletion import SessionEraser


def unused_for(settings: Any, session: str, hours: int) -> None:
    """Makes the last use of a temporary session longer ago."""
    with psycopg.connect(settings.database_url.get_secret_value(), options="-c app.scope=system") as connection:
        statement = "UPDATE temporary_session SET used_at = now() - make_interval(hours => %s) WHERE session_id = %s"
        assert connection.execute(statement, (hours, session)).rowcount == 1


async def gone(service: Any, session: str) -> None:
    async with asyncio.timeout(120):
        while (await service.client.get(f"/v1/sessions/{session}")).status_code != 404:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_temporary_session_is_visible_only_under_its_id(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session = await service.session(title="Whispered", temporary=True)
        run = await service.ask(session, "How long are tokens valid, in whispers?")
        await service.events(run["id"])
        await service.client.patch(f"/v1/sessions/{session}", json={"title": "Whispered again"})
        read = (await service.client.get(f"/v1/sessions/{session}")).json()
        assert (read["temporary"], read["title"]) == (True, "Whispered again")
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        assert [message["status"] for message in messages] == ["completed"] * 2
        for path in (
            "/v1/sessions",
            "/v1/sessions?archived=true",
            "/v1/sessions/search?q=whispered",
            "/v1/sessions/search?q=whispers",
            "/v1/sessions/search?q=expire",
            "/v1/runs",
        ):
            assert (await service.client.get(path)).json()["items"] == [], path
        [listed] = (await service.client.get("/v1/runs", params={"session_id": session})).json()["items"]
        assert listed["id"] == run["id"]


async def test_turns_of_a_temporary_session_are_not_announced(start: Any, settings: Any, redis_url: str) -> None:
    async with start(settings) as service, Redis.from_url(redis_url, decode_responses=True) as redis:
        secret, open_one = await service.session(temporary=True), await service.session()
        for session in (secret, open_one):
            await service.events((await service.ask(session))["id"])
        async with asyncio.timeout(120):
            events = list[Event]()
            while not any(event.type.startswith("turn.") for event in events):
                await asyncio.sleep(0.02)  # another server's state has no event
                events = [Event.model_validate_json(fields["event"]) for _, fields in await redis.xrange(TURNS)]
    # The turn of the temporary session came first: it would be there.
    assert {event.data["session_id"] for event in events} == {open_one}
    [turn] = [event for event in events if event.type.startswith("turn.")]
    assert TurnCompleted.model_validate(turn.data).session_id == UUID(open_one)


async def test_a_temporary_session_is_erased_a_day_after_its_last_use(
    start: Any, settings: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("orchestrator.runs.ended.LOOK_SECONDS", 0.05)
    async with start(settings) as service:
        old, used, recent = [await service.session(temporary=True) for _ in range(3)]
        kept = await service.session(title="Kept")
        run = await service.ask(old)
        await service.events(run["id"])
        unused_for(settings, recent, 23)
        unused_for(settings, used, 23)
        await service.events((await service.ask(used))["id"])
        unused_for(settings, old, 25)
        await gone(service, old)
        assert (await service.client.get(f"/v1/runs/{run['id']}")).status_code == 404
        for session in (used, recent, kept):
            assert (await service.client.get(f"/v1/sessions/{session}")).status_code == 200
        unused_for(settings, recent, 25)
        await gone(service, recent)
        with psycopg.connect(settings.database_url.get_secret_value(), options="-c app.scope=system") as connection:
            left = connection.execute("SELECT session_id, used_at > now() - interval '1 hour' FROM temporary_session")
            assert left.fetchall() == [(UUID(used), True)]


async def test_a_session_that_cannot_be_erased_does_not_block_the_others(
    start: Any, settings: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("orchestrator.runs.ended.LOOK_SECONDS", 0.05)
    async with start(settings) as service:
        stuck, other = await service.session(temporary=True), await service.session(temporary=True)
        erase = SessionEraser.erase

        async def sometimes(self: Any, caller: Any, session_id: UUID, version: int | None) -> Any:
            if str(session_id) == stuck:
                raise RuntimeError("no")
            return await erase(self, caller, session_id, version)

        with monkeypatch.context() as patched:
            patched.setattr(SessionEraser, "erase", sometimes)
            unused_for(settings, stuck, 48)
            unused_for(settings, other, 25)
            await gone(service, other)
        await gone(service, stuck)
