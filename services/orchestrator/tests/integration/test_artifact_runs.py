"""Messages that write and change the artifact of their session, over HTTP with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from contracts.artifacts import ArtifactEvent, ArtifactKind
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.artifacts.repository import ArtifactRepository, Authorship
from orchestrator.graphs.artifact_ops import recovery
from orchestrator.graphs.conversation.nodes.generate_path import QUOTED_INSTEAD
from service_kit.postgres import Database

WRITE = "Write the document that the user asks for"
REWRITE = "Rewrite the document below"
EDIT = "Edit the document below"
SPAN = "Write the text that replaces it"
FOLLOWUP = "You have just changed a document"
ROUTE = "Decide what the user's message asks for"
DOCUMENT = "# Tokens\n\nTokens expire after fifteen minutes [1].\n\nThe UserDB keeps the accounts.\n"
PIECES = ["# Tokens\n\nTokens expire ", "after fifteen minutes [", "1].\n\nThe UserDB keeps", " the accounts."]
DELIVERED = "# Tokens\n\nTokens expire after fifteen minutes [1].\n\nThe UserDB keeps the accounts [2].\n"


@pytest.fixture(autouse=True)
def script(world: Any) -> None:
    world.scripted = {
        WRITE: PIECES,
        REWRITE: ["# Kurz\n\nTokens expire after fifteen minutes [1]."],
        FOLLOWUP: ["Done as you asked."],
        SPAN: ["Tokens last for a quarter of an hour."],
    }


class Artifacts:
    """Reads and writes artifacts in the database, as a person does at the routes."""

    def __init__(self, database: Database, workspace_id: UUID, user_id: UUID) -> None:
        self.database, self.workspace_id, self.user_id = database, workspace_id, user_id

    async def current(self, session: str) -> Any:
        async with self.database.workspace(self.workspace_id) as connection:
            return await ArtifactRepository(connection, self.workspace_id).current(UUID(session))

    async def put(self, session: str, text: str, kind: ArtifactKind = ArtifactKind.markdown) -> Any:
        async with self.database.workspace(self.workspace_id) as connection:
            artifacts = ArtifactRepository(connection, self.workspace_id)
            assert await artifacts.use(UUID(session))
            now = await artifacts.current(UUID(session))
            event = ArtifactEvent.update if now else ArtifactEvent.create
            proposal = ArtifactProposal(event, now.current_index if now else None, kind, None, "Tokens", text)
            return await artifacts.add(UUID(session), proposal, Authorship(self.user_id))


@pytest.fixture
async def artifacts(settings: Any) -> AsyncIterator[Any]:
    """Returns a function that opens the artifacts of a session's user; the session determines workspace and user."""
    url = settings.database_url.get_secret_value()
    async with Database(url, 4).opened() as database:

        async def of(session: str) -> Artifacts:
            async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
                found = await connection.execute(
                    "SELECT workspace_id, created_by FROM run WHERE session_id = %s LIMIT 1", (session,)
                )
                row = await found.fetchone()
            assert row is not None
            return Artifacts(database, *row)

        yield of


async def turn(service: Any, session: str, content: str, **body: Any) -> tuple[dict[str, Any], list[Any]]:
    run = await service.ask(session, content, **body)
    events = await service.events(run["id"])
    return await service.run(run["id"]), events


def names(events: list[Any]) -> list[str]:
    return [event.data["stage"] for event in events if event.name == "stage_started"]


async def written(service: Any) -> str:
    session = await service.session(title="t")
    ended, _ = await turn(service, session, "Write a one-page summary of how tokens work")
    assert ended["status"] == "completed", ended
    return str(session)


async def test_a_document_is_written_then_edited_then_rewritten(
    start: Any, model_settings: Any, artifacts: Any, world: Any
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session()
        ended, events = await turn(service, session, "Write a one-page summary of how tokens work")
        assert ended["answer"]["content"] == "Done as you asked."
        assert ended["answer"]["artifact_index"] == 1
        assert ended["node_trace"] == [
            "generate_path", "retrieve", "artifact_action_dispatch", "generate_artifact", "generate_followup",
            "reflect", "clean_state", "generate_title",
        ]  # fmt: skip
        assert names(events) == ended["node_trace"]
        assert events[-1].data["artifact_index"] == 1
        assert events[-1].data["artifact_outcome"] == "current"
        streamed = "".join(event.data["text"] for event in events if event.name == "artifact_delta")
        assert streamed == DOCUMENT.rstrip("\n")
        found = await artifacts(session)
        view = await found.current(session)
        assert (view.text, view.title, view.index) == (DELIVERED, "Tokens", 1)
        assert [one.quote for one in view.citations] == [
            "Tokens expire after fifteen minutes.",
            "The UserDB keeps the accounts.",
        ]
        title_prompt = next(body for body in world.chats if "title of three" in str(body["messages"]))
        assert "Tokens expire after fifteen minutes" in str(title_prompt["messages"])

        start_at = DELIVERED.index("Tokens expire")
        end_at = DELIVERED.index(" [1]")
        seen = DELIVERED[start_at:end_at]
        highlight = {"version": 1, "start": start_at, "end": end_at, "text": seen}
        ended, _ = await turn(service, session, "say it otherwise", highlight=highlight)
        assert ended["answer"]["artifact_index"] == 2
        view = await found.current(session)
        assert view.text == DELIVERED.replace(seen, "Tokens last for a quarter of an hour.")
        assert view.event is ArtifactEvent.patch

        ended, _ = await turn(service, session, "Make it shorter")
        view = await found.current(session)
        assert (view.index, view.event, view.text) == (
            3,
            ArtifactEvent.rewrite,
            "# Kurz\n\nTokens expire after fifteen minutes [1].\n",
        )
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        assert [one["artifact_index"] for one in messages] == [None, 1, None, 2, None, 3]


async def test_a_document_is_written_from_the_most_relevant_passages(
    start: Any, model_settings: Any, artifacts: Any, world: Any
) -> None:
    world.good_match = False
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        assert len((await (await artifacts(session)).current(session)).citations) == 2


async def test_an_artifact_is_edited_by_a_message(start: Any, model_settings: Any, artifacts: Any, world: Any) -> None:
    edit = {"find": "The UserDB keeps", "replace": "The UserDB safely keeps"}
    world.scripted[EDIT] = [json.dumps({"edits": [edit]})]
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        ended, _ = await turn(service, session, "Add a word to the second section")
        assert ended["answer"]["artifact_index"] == 2, ended
        view = await (await artifacts(session)).current(session)
        assert view.text == DELIVERED.replace("The UserDB keeps", "The UserDB safely keeps")
        assert len(view.citations) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"artifact_action": "rewrite_artifact"}, recovery.NO_ARTIFACT),
        ({"theme": {"language": "german"}}, recovery.NO_ARTIFACT),
        ({"artifact_action": "update_highlighted_text"}, recovery.NO_ARTIFACT),
    ],
)
async def test_an_impossible_request_is_answered_with_a_fixed_text(
    start: Any, model_settings: Any, world: Any, body: dict[str, Any], message: str
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        ended, _ = await turn(service, await service.session(title="t"), "do it", **body)
    assert (ended["status"], ended["answer"]["content"]) == ("completed", message)
    assert ended["answer"]["artifact_index"] is None
    assert "generate_followup" not in ended["node_trace"]
    assert "reply_to_general_input" in ended["node_trace"]
    assert world.chats == []


async def test_without_a_model_the_answer_says_what_to_do(start: Any, settings: Any) -> None:
    async with start(settings) as service, asyncio.timeout(120):
        asked = {"artifact_action": "generate_artifact"}
        ended, _ = await turn(service, await service.session(title="t"), "a one-page summary of tokens", **asked)
    assert (ended["status"], ended["answer"]["content"]) == ("completed", recovery.NO_MODEL)


async def test_without_a_model_the_subject_of_a_requested_document_is_searched_for(start: Any, settings: Any) -> None:
    async with start(settings) as service, asyncio.timeout(120):
        ended, events = await turn(service, await service.session(title="t"), "Write a one-page summary of tokens")
    assert ended["answer"]["citations"]
    assert ended["issues"] == [QUOTED_INSTEAD]
    assert QUOTED_INSTEAD in [event.data.get("message") for event in events], "whoever follows the run is told too"
    assert ended["answer"]["artifact_index"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"theme": {"language": "klingon"}},
        {"theme": {"artifact_length": "huge"}},
        {"theme": {"reading_level": "genius"}},
        {"theme": {"port_language": "cobol"}},
        {"theme": {}},
        {"theme": {"language": "german", "fix_bugs": True}},
        {"artifact_action": "burn_artifact"},
        {"artifact_action": "rewrite_artifact", "theme": {"fix_bugs": True}},
        {"highlight": {"version": 1, "start": 0, "end": 4, "text": "abc"}},
        {"highlight": {"version": 1, "start": 4, "end": 0, "text": "abc"}},
        {"timezone": "Mars/Olympus"},
    ],
)
async def test_a_missing_reference_is_refused(start: Any, settings: Any, body: dict[str, Any]) -> None:
    async with start(settings) as service:
        session = await service.session()
        answer = await service.client.post(f"/v1/sessions/{session}/messages", json={"content": "x", **body})
    assert answer.status_code == 422, answer.text


async def test_concurrent_manual_changes_are_merged_or_the_version_of_the_run_is_set_aside(
    start: Any, model_settings: Any, artifacts: Any, world: Any
) -> None:
    edit = {"find": "The UserDB keeps", "replace": "The UserDB safely keeps"}
    world.scripted[EDIT] = [json.dumps({"edits": [edit]})]
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def hold(_: int) -> None:
        reached.set()
        await go_on.wait()

    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        found = await artifacts(session)
        for by_hand, outcome in (("# All tokens", "merged"), ("The UserDB hardly keeps", "kept_aside")):
            reached.clear(), go_on.clear()
            world.pace = hold
            world.scripted[EDIT] = [json.dumps({"edits": [edit]})]
            run = await service.ask(session, "Add a word to the second section")
            await reached.wait()
            old = "# Tokens" if outcome == "merged" else "The UserDB safely keeps"
            text = (await found.current(session)).text
            assert old in text
            await found.put(session, text.replace(old, by_hand))
            go_on.set()
            world.pace = None
            events = await service.events(run["id"])
            ended = await service.run(run["id"])
            assert events[-1].data["artifact_outcome"] == outcome
            assert "changed by hand" in ended["answer"]["content"]
            assert by_hand in (await found.current(session)).text
            edit = {"find": "The UserDB safely keeps", "replace": "The UserDB never keeps"}


@pytest.mark.parametrize("how", ["cancelled", "failed"])
async def test_a_run_that_does_not_complete_changes_no_artifact(
    start: Any, model_settings: Any, artifacts: Any, world: Any, how: str
) -> None:
    reached = asyncio.Event()

    async def hold(_: int) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        world.pace = hold
        more = {"deadline_seconds": 1} if how == "failed" else {}
        run = await service.ask(session, "Make it shorter", **more)
        if how == "cancelled":
            await reached.wait()
            await service.client.post(f"/v1/runs/{run['id']}/cancel")
        await service.events(run["id"])
        assert (await service.run(run["id"]))["status"] == how
        view = await (await artifacts(session)).current(session)
        assert (view.index, view.last_index, view.text) == (1, 1, DELIVERED)


async def test_an_unknown_artifact_action_fails_with_a_named_error(
    start: Any, model_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "orchestrator.sessions.messages.options_of",
        lambda *_: {"artifact_action": "burn", "artifact_action_params": {}},
    )
    async with start(model_settings) as service, asyncio.timeout(120):
        ended, _ = await turn(service, await service.session(), "burn it")
    assert (ended["status"], ended["error_type"]) == ("failed", "artifact-ops-error")


async def test_a_question_is_answered_with_the_open_artifact_as_context(
    start: Any, model_settings: Any, world: Any
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        ended, _ = await turn(service, session, "What does the second paragraph say?")
    assert ended["answer"]["artifact_index"] is None
    prompt = world.chats[-1]["messages"][0]["content"]
    assert "<document" in prompt
    assert "The UserDB keeps the accounts" in prompt
    assert "offer to make the change" in prompt


@pytest.mark.parametrize(
    ("routes", "route", "trouble"),
    [
        (['{"route": "rewrite_artifact"}'], "rewrite_artifact", ""),
        (['{"route": "reply"}'], "reply", ""),
        (['{"route": "generate_artifact"}'], "reply", "no route was chosen"),
        (None, "reply", "no route was chosen"),
    ],
)
async def test_if_the_rules_are_unsure_a_model_chooses_among_the_valid_routes(
    start: Any, model_settings: Any, world: Any, routes: Any, route: str, trouble: str
) -> None:
    world.scripted[ROUTE] = routes
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        run = await service.ask(session, "hmm, the tone here")
        await service.events(run["id"])
        ended = (await service.client.get(f"/v1/runs/{run['id']}?debug=true")).json()
    assert ended["debug"]["rag_route_debug"]["route"] == route
    assert (ended["answer"]["artifact_index"] is not None) is (route != "reply")
    assert "router_model" in ended["timings"]
    assert [trouble in issue for issue in ended["issues"]] == ([True] if trouble else [])


@pytest.mark.parametrize(("routing", "asked"), [("rules", 0), ("auto", 0), ("model", 1)])
async def test_the_operator_configures_who_chooses_the_route(
    start: Any, model_settings: Any, world: Any, routing: str, asked: int
) -> None:
    world.scripted[ROUTE] = ['{"route": "reply"}']
    async with start(model_settings.model_copy(update={"routing": routing})) as service, asyncio.timeout(120):
        await turn(service, await service.session(title="t"), "How long are tokens valid?")
    assert sum(ROUTE in str(body["messages"]) for body in world.chats) == asked


async def test_today_is_in_the_time_zone_of_the_user_which_is_part_of_the_turn(
    start: Any, model_settings: Any, world: Any, completed_turns: Any
) -> None:
    async with start(model_settings) as service:
        await turn(service, await service.session(title="t"), "What is due today?", timezone="Pacific/Kiritimati")
        [event] = await completed_turns()
    assert event["data"]["time_zone"] == "Pacific/Kiritimati"
    assert "(Pacific/Kiritimati)." in world.chats[0]["messages"][0]["content"]


async def test_regenerating_an_answer_applies_the_same_action_to_the_same_text(
    start: Any, model_settings: Any, artifacts: Any
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        seen = "The UserDB keeps the accounts"
        at = DELIVERED.index(seen)
        highlight = {"version": 1, "start": at, "end": at + len(seen), "text": seen}
        first, _ = await turn(service, session, "otherwise", highlight=highlight)
        assert first["answer"]["artifact_index"] == 2
        again = (await service.client.post(f"/v1/messages/{first['question_id']}/regenerate", json={})).json()
        await service.events(again["id"])
        ended = await service.run(again["id"])
        assert ended["answer"]["content"] == recovery.LOST_HIGHLIGHT
        view = await (await artifacts(session)).current(session)
        assert view.text == DELIVERED.replace(seen, "Tokens last for a quarter of an hour.")


async def test_a_quick_action_is_applied_and_an_idempotency_key_belongs_to_one_request(
    start: Any, model_settings: Any, world: Any
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await written(service)
        made = await service.client.post("/v1/quick-actions", json={"name": "Loud", "prompt": "SHOUT IT"})
        assert made.status_code == 201, made.text
        action = made.json()
        ended, _ = await turn(service, session, "loud", quick_action=action["id"])
        assert ended["answer"]["artifact_index"] == 2
        rewriting = next(body for body in world.chats if REWRITE in str(body["messages"][0]))
        assert rewriting["messages"][-1]["content"] == "SHOUT IT"

        answer = await service.client.post(
            f"/v1/sessions/{session}/messages", json={"content": "x", "quick_action": str(uuid4())}
        )
        assert (answer.status_code, answer.json()["type"].rsplit("/", 1)[-1]) == (404, "quick-action-not-found")

        key = {"Idempotency-Key": "k1"}
        path = f"/v1/sessions/{session}/messages"
        first = await service.client.post(path, json={"content": "x"}, headers=key)
        same = await service.client.post(path, json={"content": "x"}, headers=key)
        assert first.json()["id"] == same.json()["id"]
        other = await service.client.post(path, json={"content": "x", "timezone": "Asia/Tokyo"}, headers=key)
        assert other.status_code == 409

        reply = {"name": "Brief", "prompt": "Answer in one word.", "target": "message"}
        brief = (await service.client.post("/v1/quick-actions", json=reply)).json()
        ended, _ = await turn(service, session, "Make it shorter", quick_action=brief["id"])
        assert ended["answer"]["artifact_index"] is None
        assert "Answer in one word." in world.chats[-1]["messages"][0]["content"]
