"""What the orchestrator says when a run or an artifact changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from redis.asyncio import Redis

from contracts.events import TURNS, ArtifactChanged, Event, EventData, RunChanged, event_data


async def changes(redis: Redis, done: Callable[[list[EventData]], bool]) -> list[EventData]:
    """Returns the changes that were announced, as soon as `done` holds for them."""
    found = list[EventData]()
    async with asyncio.timeout(120):
        while not done(found):
            await asyncio.sleep(0.02)  # another server's state has no event
            events = [Event.model_validate_json(fields["event"]) for _, fields in await redis.xrange(TURNS)]
            found = [event_data(event) for event in events if event.type.endswith(".changed.v1")]
    return found


async def test_a_run_is_announced_as_it_is_queued_begins_and_ends(
    start: Any, settings: Any, redis_url: str, principal: Any
) -> None:
    async with start(settings) as service, Redis.from_url(redis_url, decode_responses=True) as redis:
        session = await service.session()
        run = await service.ask(session)
        await service.events(run["id"])
        told = await changes(redis, lambda found: len(found) == 3)
    assert all(isinstance(one, RunChanged) for one in told)
    assert [one.status.value for one in told] == ["queued", "running", "completed"]  # type: ignore[attr-defined]
    facts = {(str(one.run_id), str(one.session_id), one.user_id) for one in told}  # type: ignore[attr-defined]
    assert facts == {(run["id"], session, principal.user_id)}


async def test_each_current_version_of_an_artifact_is_announced_and_its_deletion(
    start: Any, settings: Any, redis_url: str, principal: Any
) -> None:
    async with start(settings) as service, Redis.from_url(redis_url, decode_responses=True) as redis:
        session, secret = await service.session(), await service.session(temporary=True)
        for one in (secret, session):
            path = f"/v1/sessions/{one}/artifact"
            body = {"kind": "markdown", "text": "One"}
            assert (await service.client.put(path, json=body)).is_success
            assert (await service.client.put(path, json={**body, "text": "Two"})).is_success
            assert (await service.client.post(f"{path}/undo")).is_success
            assert (await service.client.delete(path)).is_success
        told = await changes(redis, lambda found: bool(found) and found[-1].index is None)  # type: ignore[attr-defined]
    assert all(isinstance(one, ArtifactChanged) and one.user_id == principal.user_id for one in told)
    assert {str(one.session_id) for one in told} == {session}  # type: ignore[attr-defined]
    indexes = [one.index for one in told]  # type: ignore[attr-defined]
    assert list(dict.fromkeys(indexes)) == [1, 2, None]
    assert indexes[-2:] == [1, None]
