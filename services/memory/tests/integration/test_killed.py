"""Whichever step of the consumer a kill -9 hits, the memories are those of a process that lived."""

from __future__ import annotations

import asyncio
import signal
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from uuid import uuid4

import pytest
from doomed_memory import STEPS, serve

from contracts.events import TURNS
from contracts.world import StagedOperations, WorldOperation, WorldOperationKind

SAID = ["I live in Munich, and I use AuthService.", "I moved to Berlin. I love hiking.", "Add a goal: ship in May"]
GOAL = StagedOperations(
    of_session=False, operations=[WorldOperation(op=WorldOperationKind.add, path="/goals", value="ship in May")]
)
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["doomed_memory"])


@pytest.fixture
def killed(settings, redis):
    async def run(step: str) -> None:
        """Lets a process of its own handle turns until it dies; its events are then taken over without a wait."""
        child = PROCESSES.Process(target=serve, args=(settings, step))
        await asyncio.to_thread(child.start)
        try:
            await asyncio.to_thread(child.join, 120)
            assert child.exitcode == -signal.SIGKILL
        finally:
            child.kill()
        held = [one["message_id"] for one in await redis.xpending_range(TURNS, "memory", "-", "+", 100)]
        assert len(held) == len(SAID)
        await redis.xclaim(TURNS, "memory", "dead", 0, held, idle=60_000, justid=True)

    return run


async def test_a_consumer_killed_at_any_step_leaves_the_same_memories_after_redelivery_and_replay(
    killed, app, running, streams, principal, auth_headers, remembered
):
    at, session, document = datetime(2026, 3, 2, 12, tzinfo=UTC), uuid4(), uuid4()
    turns = []
    for day, text in enumerate(SAID):
        named = {"question_id": uuid4(), "answer_id": uuid4(), "run_id": uuid4(), "event_id": uuid4()}
        named |= {"session_id": session, "asked_at": at + timedelta(30 * day)}
        turns.append((text, {**named, "world": GOAL if text.startswith("Add") else None}))

    async def send(workspace_id, **changed):
        for text, named in turns:
            again = {name: make() for name, make in changed.items()}
            await streams.turn(principal.user_id, text, [document], workspace_id=workspace_id, **{**named, **again})

    await send(streams.workspace_id)
    for step in STEPS:
        await killed(step)

    async with running(app) as client:

        async def known(workspace_id):
            await streams.drained(TURNS)
            headers = auth_headers(workspace_id=workspace_id)
            worlds = [
                (await client.get(f"/v1/world{of}", headers=headers)).json() for of in ("", f"?session_id={session}")
            ]
            states = [(one["version"], one["document"]["goals"], one["document"]["topics"]) for one in worlds]
            return await remembered(client, workspace_id), states

        undisturbed = uuid4()
        await send(undisturbed)
        expected = await known(undisturbed)
        memories, worlds = expected
        facts = {one["fact"]["object"]: one["fact"]["valid_to"] for one in memories.values() if one["fact"]}
        assert facts.keys() == {"Munich", "AuthService", "Berlin", "hiking"}
        assert facts["Munich"] is not None
        assert worlds == [(2, ["ship in May"], []), (4, [], ["Munich", "AuthService", "Berlin"])]
        assert await known(streams.workspace_id) == expected
        await send(streams.workspace_id)
        assert await known(streams.workspace_id) == expected
        await send(streams.workspace_id, event_id=uuid4)
        assert await known(streams.workspace_id) == expected
