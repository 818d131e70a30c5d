"""Preferences learned from one artifact are in the prompt of the next, until the user deletes them."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import httpx2
import pytest
import waiting
from api_calls import client, new_tenant
from orchestrator_service import orchestrator_fixtures
from served_apps import serving
from stack import PATIENT, EmbeddedStack

service_tests = orchestrator_fixtures()
WRITE = "Write the document that the user asks for"
WISH = "Write a one-page summary of how tokens work in British spelling, no bullet points"
STYLE = "<memory>Use British spelling.</memory>"
PATIENCE = 240.0
REFLECTIONS = {
    "reflections": [
        {"kind": "style", "aspect": "spelling", "text": "Use British spelling.", "quote": "in British spelling"},
        {"kind": "style", "aspect": "lists", "text": "Write without bullet points.", "quote": "no bullet points"},
    ]
}


async def written(http: httpx2.AsyncClient, wish: str) -> None:
    """Asks for an artifact in a new session, and waits for the run."""
    session = (await http.post("/v1/sessions", json={"title": "t"})).json()["id"]
    run = (await http.post(f"/v1/sessions/{session}/messages", json={"content": wish})).json()
    async with asyncio.timeout(PATIENCE):
        while (ended := (await http.get(f"/v1/runs/{run['id']}")).json())["status"] in ("queued", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)  # polls, because the stream's process is killed meanwhile
    assert (ended["status"], ended["answer"]["artifact_index"]) == ("completed", 1), ended


async def styles(http: httpx2.AsyncClient, count: int) -> list[dict[str, Any]]:
    """Waits until memory has this many styles; returns them."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await http.get("/v1/memories")).json().get("items", [])
            if len(kept := [one for one in found if one["kind"] == "style"]) == count:
                return kept
            await asyncio.sleep(0.2)  # memory is updated after the turn, without an event


def prompts(world: Any) -> list[str]:
    """Returns the prompts that the model got for documents."""
    return [one["messages"][0]["content"] for one in world.chats if WRITE in one["messages"][0]["content"]]


@pytest.mark.timeout(900)
async def test_a_learned_style_is_used_after_a_restart_until_it_is_deleted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    world = service_tests.World()
    world.scripted = {WRITE: ["# Tokens\n\nThey expire."], "You have just changed": ["Done."]}
    world.reflections = json.dumps(REFLECTIONS)
    async with serving(service_tests.other_services(world)) as chat:
        folder = tmp_path_factory.mktemp("learned")
        settings = {"CHAT_BASE_URL": f"{chat}/chat/v1", "CHAT_MODEL": "scripted", "CHAT_API_KEY": "none"}
        started = EmbeddedStack.started(folder, **settings, **PATIENT, RATE_LIMIT_PER_MINUTE="100000")
        stack = await asyncio.to_thread(started.__enter__)
        try:
            await learned(stack, world)
        finally:
            await asyncio.to_thread(started.__exit__, None, None, None)


async def learned(stack: EmbeddedStack, world: Any) -> None:
    async with client(stack.url, stack.api_key) as admin, new_tenant(stack.url, admin, "learners") as tenant:
        http = tenant.http
        await written(http, WISH)
        spelling, lists = sorted(await styles(http, 2), key=lambda one: str(one["content"]))
        assert (spelling["content"], lists["content"]) == ("Use British spelling.", "Write without bullet points.")
        assert len(spelling["fact"]["message_ids"]) == 1
        world.reflections = json.dumps({"reflections": []})
        for name in ("memory", "orchestrator"):
            await asyncio.to_thread(stack.kill, name)
        await styles(http, 2)
        await waiting.eventually(partial(http.get, "/v1/sessions"), lambda answer: answer.is_success)
        await written(http, "Write a one-page summary of how keys work")
        assert STYLE in prompts(world)[-1]
        assert "<memory>Write without bullet points.</memory>" in prompts(world)[-1]
        assert STYLE not in prompts(world)[0]

        assert (await http.delete(f"/v1/memories/{spelling['id']}")).status_code == 204
        await styles(http, 1)
        await written(http, "Write a one-page summary of how locks work")
        assert STYLE not in prompts(world)[-1]
        assert "<memory>Write without bullet points.</memory>" in prompts(world)[-1]

        # Forgetting also removes the message with the preference, so it is not recalled either.
        assert (await http.post("/v1/memories/forget", json={"about": "bullet points"})).status_code == 200
        await styles(http, 0)
        await written(http, "Write a one-page summary of how queues work")
        assert "bullet points" not in prompts(world)[-1]
        assert "British" not in prompts(world)[-1]
