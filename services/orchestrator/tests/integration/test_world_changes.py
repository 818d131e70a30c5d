"""Changes of the world state by a run: announced with its turn, and only if the run completed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from redis.asyncio import Redis

from contracts.events import TURNS, Event, EventData, TurnCompleted, TurnDiscarded, event_data
from orchestrator.errors import DeadlinePassed
from orchestrator.graphs.conversation.world_telling import NOT_COMMITTED
from orchestrator.services import MemoryService


async def ends_of_runs(redis_url: str, count: int) -> list[EventData]:
    """Returns the events about ended runs as soon as there are this many."""
    async with asyncio.timeout(120), Redis.from_url(redis_url, decode_responses=True) as redis:
        turns = list[Event]()
        while len(turns) < count:
            await asyncio.sleep(0.02)  # another server's state has no event
            events = [Event.model_validate_json(one["event"]) for _, one in await redis.xrange(TURNS)]
            turns = [event for event in events if event.type.startswith("turn.")]
    return [event_data(event) for event in turns]


async def test_only_a_completed_run_changes_the_world_state(
    start: Any, settings: Any, world: Any, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, try_out = asyncio.Event(), MemoryService.try_out

    async def waiting(*arguments: Any) -> Any:
        await try_out(*arguments)
        reached.set()
        await asyncio.Event().wait()

    def late(*_: Any, **__: Any) -> Any:
        raise DeadlinePassed

    async with start(settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        with monkeypatch.context() as patched:
            patched.setattr(MemoryService, "try_out", waiting)
            cancelled = await service.ask(session, "Add a goal: cancelled")
            await reached.wait()
            await service.client.post(f"/v1/runs/{cancelled['id']}/cancel")
            assert (await service.events(cancelled["id"]))[-1].name == "run_cancelled"
        with monkeypatch.context() as patched:
            patched.setattr("orchestrator.graphs.conversation.nodes.verify_citations.MessageCompleted", late)
            failed = await service.ask(session, "Add a goal: failed")
            assert (await service.events(failed["id"]))[-1].name == "run_failed"
        broken = (await service.run(failed["id"]))["answer"]["content"]
        with monkeypatch.context() as patched:
            patched.setattr("orchestrator.graphs.conversation.nodes.verify_citations.verified", None)
            unchecked = await service.ask(session, "Add a goal: unchecked")
            assert (await service.events(unchecked["id"]))[-1].name == "run_completed"
        kept = (await service.run(unchecked["id"]))["answer"]["content"]
        run = await service.ask(session, "Rename the project to Apollo", timezone="Europe/Berlin")
        await service.events(run["id"])
        completed = await service.run(run["id"])
        own = await service.ask(session, "Add a goal: tidy up in this session")
        await service.events(own["id"])
        *discarded, changed, beside = await ends_of_runs(redis_url, 5)
    assert broken.endswith(NOT_COMMITTED)
    assert kept.endswith(NOT_COMMITTED)
    assert completed["answer"]["content"] == "The project's name is now: Apollo"
    assert completed["node_trace"][:3] == ["generate_path", "world_modifier", "reply_to_general_input"]
    assert [(type(one), str(one.run_id), str(one.session_id)) for one in discarded] == [
        (TurnDiscarded, one["id"], session) for one in (cancelled, failed, unchecked)
    ]
    assert isinstance(changed, TurnCompleted)
    assert changed.world is not None
    assert str(changed.run_id) == run["id"]
    operations = [(one.op, one.path, one.value) for one in changed.world.operations]
    assert operations == [("test", "/project/name", None), ("set", "/project/name", "Apollo")]
    assert isinstance(beside, TurnCompleted)
    assert beside.world is not None
    assert (changed.world.of_session, beside.world.of_session) == (False, True)
    assert [one["dry_run"] for one in world.tried] == [True] * 5
    assert world.world_reads == [None, None, None, None, session]


async def test_a_run_cancelled_before_it_began_is_announced_unless_its_session_is_temporary(
    start: Any, model_settings: Any, world: Any, redis_url: str
) -> None:
    writing = asyncio.Event()

    async def forever(_: int) -> None:
        writing.set()
        await asyncio.Event().wait()

    world.pace = forever
    async with start(model_settings) as service, asyncio.timeout(120):
        secret, session = await service.session(temporary=True), await service.session(title="t")
        runs = [await service.ask(one) for one in (secret, session) for _ in range(2)]
        await writing.wait()
        for waiting in runs[1::2]:
            cancelled = (await service.client.post(f"/v1/runs/{waiting['id']}/cancel")).json()
            assert (cancelled["status"], cancelled["attempts"]) == ("cancelled", 0)
        [discarded] = await ends_of_runs(redis_url, 1)
        for running in runs[::2]:
            await service.client.post(f"/v1/runs/{running['id']}/cancel")
    assert isinstance(discarded, TurnDiscarded)
    assert str(discarded.run_id) == runs[3]["id"]


ROUTE, WISH = "Decide what the user's message asks for", "Decide how the user's message changes it"


async def test_a_model_reads_a_wish_that_the_rules_do_not_understand(
    start: Any, model_settings: Any, world: Any, redis_url: str
) -> None:
    world.scripted[ROUTE] = ['{"route": "world"}']
    answers = []
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        for asked in (
            {"act": "add", "field": "goals", "value": "we ship in June"},
            {"act": "add", "field": "goals", "value": "we send everything to Mallory"},
            None,
        ):
            world.scripted[WISH] = asked and [json.dumps(asked)]
            run = await service.ask(session, "From now on our main goal is that we ship in June.")
            await service.events(run["id"])
            answers.append(await service.run(run["id"]))
        ends = await ends_of_runs(redis_url, 3)
    assert answers[0]["answer"]["content"] == "Added to the workspace's goals: we ship in June"
    assert [one["node_trace"][1] for one in answers] == ["world_modifier"] * 3
    assert [one["node_trace"][2] == "retrieve" for one in answers] == [False, True, True]
    assert "its wish could not be read" in answers[2]["issues"][0]
    changes = [one.world for one in ends if isinstance(one, TurnCompleted)]
    assert [change and change.operations[0].value for change in changes] == ["we ship in June", None, None]
    assert len(world.tried) == 1
