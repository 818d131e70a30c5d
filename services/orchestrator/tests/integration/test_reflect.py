"""What is learned of a user when the artifact was changed, and what is not, over HTTP with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from redis.asyncio import Redis

from contracts.events import TURNS, Event, TurnCompleted
from orchestrator.errors import DeadlinePassed
from orchestrator.services import MemoryService, RetrievalService

WRITE = "Write the document that the user asks for"
FOLLOWUP = "You have just changed a document"
REFLECT = "A document has just been written or changed for a user"
WISH = "Write a one-page summary of how tokens work in British spelling, no bullet points"
SPELLING = {"kind": "style", "aspect": "spelling", "text": "Use British spelling.", "quote": "in British spelling"}
LISTS = {"kind": "style", "aspect": "lists", "text": "Write without bullet points.", "quote": "no bullet points"}
UNSAID = {"kind": "fact", "text": "I run the UserDB.", "quote": "The UserDB keeps the accounts"}


def derived(*entries: dict[str, str]) -> str:
    return json.dumps({"reflections": entries})


@pytest.fixture(autouse=True)
def script(world: Any) -> None:
    world.scripted = {WRITE: ["# Tokens\n\nTokens expire after fifteen minutes [1]."], FOLLOWUP: ["Done."]}
    world.reflections = derived(SPELLING, LISTS, UNSAID)


@pytest.fixture
async def turns(redis_url: str) -> AsyncIterator[Any]:
    """Returns the announced turns of a session in order."""
    async with Redis.from_url(redis_url, decode_responses=True) as redis:

        async def told(session: str, count: int) -> list[TurnCompleted]:
            async with asyncio.timeout(120):
                while True:
                    events = [Event.model_validate_json(one["event"]) for _, one in await redis.xrange(TURNS)]
                    found = [TurnCompleted.model_validate(one.data) for one in events if "turn.completed" in one.type]
                    found = [one for one in found if str(one.session_id) == session]
                    if len(found) >= count:
                        return found
                    await asyncio.sleep(0.02)  # the stream has no event for one that a test waits for

        yield told


async def turn(service: Any, session: str, content: str, **body: Any) -> tuple[dict[str, Any], list[Any]]:
    run = await service.ask(session, content, **body)
    events = await service.events(run["id"])
    return await service.run(run["id"]), events


def reflecting(world: Any) -> list[str]:
    return [one["messages"][0]["content"] for one in world.chats if one["messages"][0]["content"].startswith(REFLECT)]


async def test_only_statements_of_the_user_are_learned_and_only_after_the_answer(
    start: Any, model_settings: Any, world: Any, turns: Any
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        ended, events = await turn(service, session, WISH)
        [told] = await turns(session, 1)
    assert ended["node_trace"][-3:] == ["generate_followup", "reflect", "clean_state"]
    assert ended["issues"] == []
    assert "Learned of 2 wishes or facts" in ended["steps_executed"]
    assert [(one.kind, one.aspect, one.text) for one in told.reflections] == [
        ("style", "spelling", "Use British spelling."),
        ("style", "lists", "Write without bullet points."),
    ]
    names = [(event.name, event.data.get("stage")) for event in events]
    assert names.index(("message_completed", None)) < names.index(("stage_started", "reflect"))
    [prompt] = reflecting(world)
    assert f"<message>\n{WISH}\n</message>" in prompt
    assert "UserDB" not in prompt  # neither what was found nor what was written
    assert "Done." not in prompt


async def test_replies_and_recovered_turns_are_not_reflected_on(start: Any, model_settings: Any, world: Any) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        replied, _ = await turn(service, await service.session(title="t"), "How long are tokens valid?")
        world.scripted[WRITE] = None
        recovered, _ = await turn(service, await service.session(title="t"), WISH)
    assert "reply_to_general_input" in replied["node_trace"]
    assert "artifact_action_dispatch" in recovered["node_trace"]
    assert "reflect" not in replied["node_trace"] + recovered["node_trace"]
    assert reflecting(world) == []


@pytest.mark.parametrize("answer", [None, "no object", '{"reflections": [{"kind": "order", "text": "x"}]}'])
async def test_a_model_that_derives_nothing_is_an_issue(
    start: Any, model_settings: Any, world: Any, turns: Any, answer: str | None
) -> None:
    world.scripted[REFLECT] = None if answer is None else [answer]
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        ended, _ = await turn(service, session, WISH)
        [told] = await turns(session, 1)
    assert (ended["status"], ended["answer"]["content"], ended["answer"]["artifact_index"]) == ("completed", "Done.", 1)
    assert [one.split(":")[0] for one in ended["issues"]] == ["nothing was learned from this turn"]
    assert told.reflections == []


async def test_a_failing_reflect_node_is_an_issue_and_the_version_is_kept(
    start: Any, model_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("orchestrator.graphs.conversation.nodes.reflect.shown_by", broken)
    async with start(model_settings) as service, asyncio.timeout(120):
        ended, _ = await turn(service, await service.session(title="t"), WISH)
    assert (ended["status"], ended["answer"]["content"], ended["answer"]["artifact_index"]) == ("completed", "Done.", 1)
    assert ended["issues"] == ["reflect failed: ZeroDivisionError"]
    assert ended["node_trace"][-1] == "clean_state"


async def test_nothing_is_learned_from_a_temporary_session(start: Any, model_settings: Any, world: Any) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        ended, _ = await turn(service, await service.session(title="t", temporary=True), WISH)
    assert "reflect" in ended["node_trace"]
    assert reflecting(world) == []


@pytest.mark.parametrize("how", ["cancelled", "failed", "handed over"])
async def test_a_run_cancelled_during_reflection_keeps_its_version_and_learns_nothing(
    start: Any, model_settings: Any, world: Any, turns: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    def late(*_: Any) -> Any:
        raise DeadlinePassed

    reached = asyncio.Event()

    async def pace(_: int) -> None:
        if reflecting(world):
            reached.set()
            await asyncio.Event().wait()

    if how == "failed":
        monkeypatch.setattr("orchestrator.graphs.conversation.nodes.reflect.shown_by", late)
    else:
        world.pace = pace
    settings = model_settings.model_copy(update={"run_lease_seconds": 3_600.0})
    async with start(settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        run = await service.ask(session, WISH)
        if how != "failed":
            await reached.wait()
        if how == "handed over":  # as a process does that stops; this one has lost the run then
            async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
                await connection.execute("SET app.scope = 'system'")
                await connection.execute(
                    "UPDATE run SET state = 'queued', available_at = now() + interval '1 hour', lease_token = NULL, "
                    "lease_owner = NULL, lease_expires_at = NULL"
                )
        if how != "failed":
            await service.client.post(f"/v1/runs/{run['id']}/cancel")
        end = (await service.events(run["id"]))[-1]
        ended = await service.run(run["id"])
        artifact = (await service.client.get(f"/v1/sessions/{session}/artifact")).json()
        world.pace = None
        monkeypatch.undo()
        await turn(service, session, "How long are tokens valid?")
        [told] = await turns(session, 1)
    assert end.name == ("run_failed" if how == "failed" else "run_cancelled")
    assert (end.data["artifact_index"], end.data["artifact_outcome"]) == (1, "current")
    assert (artifact["index"], artifact["text"]) == (1, "# Tokens\n\nTokens expire after fifteen minutes [1].\n")
    status = "incomplete" if how == "failed" else "cancelled"
    answer = ended["answer"]
    assert (answer["status"], answer["content"], answer["artifact_index"]) == (status, "Done.", 1)
    assert told.question == "How long are tokens valid?"
    assert told.reflections == []


async def test_manual_edits_are_learned_from(start: Any, model_settings: Any, world: Any) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        await turn(service, session, WISH)
        place = f"/v1/sessions/{session}/artifact"
        now = (await service.client.get(place)).json()
        edited = await service.client.put(
            place, json={"text": f"{now['text']}\nThe colour of a token is grey.\n"}, headers={"If-Match": "*"}
        )
        assert edited.status_code < 300, edited.text
        world.scripted["Rewrite the document below"] = ["# Tokens\n\nShort."]
        await turn(service, session, "Make it shorter")
        world.scripted["Rewrite the document below"] = ["# Tokens\n\nShorter."]
        await turn(service, session, "Make it shorter")
    first, second, third = reflecting(world)
    assert "<edit>The colour of a token is grey.</edit>" in second
    assert "<edit>" not in first + third


async def test_a_quick_action_reads_preferences_and_history_as_configured(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.profile = {"style": ["Use British spelling."], "facts": []}
    place = "/v1/quick-actions"
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="t")
        await turn(service, session, "How long are tokens valid?")
        for history, preferences in ((True, True), (False, False)):
            body = {"name": "brief", "prompt": "Be brief", "target": "message", "use_history": history}
            made = await service.client.post(place, json={**body, "use_preferences": preferences})
            assert made.json()["use_preferences"] is preferences
            ended, _ = await turn(service, session, "And then?", quick_action=made.json()["id"])
            *_, asked = (one for one in world.chats if one["messages"][0]["content"].startswith("You are Attractor"))
            assert ("<memory>Use British spelling.</memory>" in asked["messages"][0]["content"]) is preferences
            assert (len(asked["messages"]) > 2) is history
            kinds = world.recalls[-1]["kinds"]  # none named: all of them
            assert (kinds == []) is preferences
            assert "style" not in kinds
            again = await service.client.post(f"/v1/messages/{ended['answer']['id']}/regenerate", json={})
            await service.events(again.json()["id"])
            *_, asked = (one for one in world.chats if one["messages"][0]["content"].startswith("You are Attractor"))
            assert ("<memory>Use British spelling.</memory>" in asked["messages"][0]["content"]) is preferences
        changed = await service.client.patch(f"{place}/{made.json()['id']}", json={"use_preferences": True})
        assert changed.json()["use_preferences"] is True
        default = await service.client.post(place, json={"name": "n", "prompt": "p"})
        assert (default.json()["use_preferences"], default.json()["use_history"]) == (True, False)


async def test_the_profile_comes_with_the_memories_in_parallel_with_the_search(
    start: Any, model_settings: Any, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.profile = {"style": ["Use British spelling."], "facts": []}
    asked, search, recall = asyncio.Event(), RetrievalService.search, MemoryService.recall

    async def searched(service: RetrievalService, *arguments: Any) -> Any:
        await asked.wait()
        return await search(service, *arguments)

    async def told(service: MemoryService, *arguments: Any) -> Any:
        asked.set()
        return await recall(service, *arguments)

    monkeypatch.setattr(RetrievalService, "search", searched)
    monkeypatch.setattr(MemoryService, "recall", told)
    async with start(model_settings) as service, asyncio.timeout(120):
        ended, _ = await turn(service, await service.session(title="t"), "How long are tokens valid?")
    assert ended["status"] == "completed"
    assert (len(world.recalls), world.profiles) == (1, [])
    assert any("<memory>Use British spelling.</memory>" in one["messages"][0]["content"] for one in world.chats)
