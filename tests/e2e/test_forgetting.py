"""What is forgotten is nowhere: not in a row, a key of Redis or an object of any service."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from api_calls import EXAMPLES, PATIENCE, ask, ingest, listed
from stack import EmbeddedStack
from stored_texts import places_of

from embedded.data_folder import DataFolder

NAME = "Walrusburg"
NOTE = f"The {NAME} office opens at eight."
SAID = (f"I moved to {NAME} last week.", "Where do I live?", f"What do the documents say about {NAME}?")


async def session_of(http: httpx2.AsyncClient, question: str) -> str:
    run = (await ask(http, question))["run_id"]
    return str((await http.get(f"/v1/runs/{run}")).json()["session_id"])


async def remembered(http: httpx2.AsyncClient, sessions: set[str]) -> None:
    """Waits until messages of all sessions are remembered."""
    async with asyncio.timeout(PATIENCE):
        while not sessions <= {one["session_id"] for one in await listed(http, "/v1/memories")}:  # noqa: ASYNC110
            await asyncio.sleep(0.2)  # the API has no event for it


async def gone(folder: DataFolder) -> None:
    """Waits until the text is nowhere: services hear of a deleted session by an event."""
    async with asyncio.timeout(PATIENCE):
        while await asyncio.to_thread(places_of, folder, NAME):  # noqa: ASYNC110  no event says that all have heard
            await asyncio.sleep(0.5)


def assert_only_in_transcripts(places: dict[str, int]) -> None:
    """Checks that the text is in the orchestrator's rows and in the events of its runs, and nowhere else."""
    others = {one for one in places if not one.startswith(("orchestrator.", "redis attractor.runs."))}
    assert not others, places


async def test_a_forgotten_text_is_in_no_table_stream_or_object(
    make_tenant: Any, embedded_stack: EmbeddedStack | None
) -> None:
    if embedded_stack is None:
        pytest.skip("the engines of a stack at ATTRACTOR_URL are not open to this test")
    folder = embedded_stack.folder
    async with make_tenant("forgetting") as tenant:
        http = tenant.http
        await ingest(http, [EXAMPLES / "services.md"])
        assert places_of(folder, NAME) == {}
        sessions: set[str] = set()
        for one in SAID:  # an answer names the place only if what was said before is already remembered
            sessions.add(await session_of(http, one))
            await remembered(http, sessions)
        (await http.post("/v1/memories", json={"content": NOTE})).raise_for_status()
        goal = {"operations": [{"op": "add", "path": "/goals", "value": f"Open {NAME}"}]}
        (await http.post("/v1/world/operations", json=goal)).raise_for_status()
        message = {"id": "1", "role": "user", "content": f"{NAME} is lovely.", "at": "2026-03-02T12:00:00Z"}
        imported = {"source": "old chats", "conversations": [{"id": "a", "messages": [message]}]}
        (await http.post("/v1/memories/import", json=imported)).raise_for_status()

        before = places_of(folder, NAME)
        held = {"memory.memory", "memory.fact", "memory.world", "memory.world_event", "orchestrator.message"}
        assert held <= before.keys()
        assert "redis attractor.turns" in before

        receipt = (await http.post("/v1/memories/forget", json={"about": NAME})).raise_for_status().json()
        assert not any(receipt["remaining"].values()), receipt
        assert receipt["removed"]["event"] > 0
        assert_only_in_transcripts(places_of(folder, NAME))
        assert set(receipt["transcripts"]["sessions"]) == sessions

        for session in sessions:
            deleted = (await http.delete(f"/v1/sessions/{session}")).raise_for_status().json()
            assert not any(deleted["remaining"].values()), deleted
        await gone(folder)
