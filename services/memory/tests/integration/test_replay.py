"""Whichever step fails, and however often an event is delivered, the memories are those of one clean run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from contracts.events import TURNS
from contracts.world import StagedOperations, WorldOperation, WorldOperationKind
from memory.facts.repository import FactRows
from memory.repository import Memories
from memory.world.repository import WorldRows

SAID = [
    "I live in Munich.",
    "My sister's name is Hanna.",
    "No, it's Anna, not Hanna.",
    "I moved to Berlin last week. I love hiking.",
    "We decided to use PostgreSQL. I love hiking.",
    "I no longer work at Acme, I work at Initech.",
    "Add a goal: ship in May",
]
GOAL = StagedOperations(
    of_session=False, operations=[WorldOperation(op=WorldOperationKind.add, path="/goals", value="ship in May")]
)
STEPS = [
    (Memories, "lock"),
    (Memories, "insert_message"),
    (FactRows, "close"),
    (FactRows, "insert"),
    (FactRows, "insert_source"),
    (Memories, "insert_sources"),
    (WorldRows, "add_effects"),
]


class Breaking:
    """Makes a step fail once, right after it is done, in one workspace."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, workspace_id: UUID) -> None:
        self.armed: tuple[type, str] | None = None
        self.broken = list[str]()
        for step in STEPS:
            self._wrap(monkeypatch, step, workspace_id)

    def _wrap(self, monkeypatch: pytest.MonkeyPatch, step: tuple[type, str], workspace_id: UUID) -> None:
        kind, name = step
        whole = getattr(kind, name)

        async def broken(rows, *arguments, **named):
            found = await whole(rows, *arguments, **named)
            if self.armed == step and rows.workspace_id == workspace_id:
                self.armed = None
                self.broken.append(name)
                raise ConnectionError(f"broken after {name}")
            return found

        monkeypatch.setattr(kind, name, broken)


async def test_failures_at_any_step_redelivery_and_replay_give_the_same_result(
    client, streams, principal, auth_headers, monkeypatch, remembered
):
    undisturbed = uuid4()
    breaking = Breaking(monkeypatch, streams.workspace_id)
    at, session, document = datetime(2026, 3, 2, 12, tzinfo=UTC), uuid4(), uuid4()
    turns = []
    for day, (text, step) in enumerate(zip(SAID, STEPS, strict=True)):
        named = {"question_id": uuid4(), "answer_id": uuid4(), "run_id": uuid4(), "event_id": uuid4()}
        named |= {"session_id": session, "asked_at": at + timedelta(30 * day)}
        turns.append((text, {**named, "world": GOAL if text.startswith("Add") else None}))
        breaking.armed = step
        for workspace in (streams.workspace_id, undisturbed):
            await streams.turn(principal.user_id, text, [document], workspace_id=workspace, **turns[-1][1])
        await streams.drained(TURNS)
    assert breaking.broken == [name for _, name in STEPS]

    async def memories(workspace_id: UUID):
        world = (await client.get("/v1/world", headers=auth_headers(workspace_id=workspace_id))).json()
        assert (world["version"], world["document"]["goals"]) == (2, ["ship in May"])
        return await remembered(client, workspace_id)

    expected = await memories(undisturbed)
    assert len(expected) == 2 * len(SAID) + 7
    assert await memories(streams.workspace_id) == expected
    for same_events in (True, False):
        for text, named in turns:
            event_id = named["event_id"] if same_events else uuid4()
            await streams.turn(principal.user_id, text, [document], **{**named, "event_id": event_id})
        await streams.drained(TURNS)
        assert await memories(streams.workspace_id) == expected
