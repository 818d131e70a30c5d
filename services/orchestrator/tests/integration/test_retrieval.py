"""Retrieval as configured by a message, over HTTP, with scripted services."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from deployment_keys import ACTORS, DELEGATED
from redis.asyncio import Redis

from contracts.share_tokens import ShareToken
from contracts.sharing import SHARES_PATH
from service_kit.auth import Principal, ServiceCaller

QUESTION = "How long are tokens valid?"
ELSEWHERE = "00000000-0000-4000-8000-00000000000d"  # the workspace of what the search finds
TOKENS_QUOTE = "Tokens expire after fifteen minutes."
REWRITE = "Rewrite the user's last message"


@pytest.fixture
def wide(tokens: Any, audience: str, principal: Principal) -> dict[str, str]:
    """Of a key that reads another workspace, too."""
    caller = replace(principal, readable=(UUID(ELSEWHERE),))
    delegated = replace(caller, delegation=tokens.delegate(caller, ACTORS, DELEGATED))
    return {"Authorization": f"Bearer {tokens.sign(delegated, audience)}"}


async def answered_run(
    service: Any, session: str | None = None, content: str = QUESTION, **body: Any
) -> dict[str, Any]:
    """The ended run, with its debug state."""
    run = await service.ask(session or await service.session(), content, **body)
    await service.events(run["id"])
    response = await service.client.get(f"/v1/runs/{run['id']}", params={"debug": True})
    ended: dict[str, Any] = response.json()
    assert ended["status"] == "completed", ended
    return ended


def searched(ended: dict[str, Any]) -> dict[str, Any]:
    debug: dict[str, Any] = ended["debug"]["rag_retrieval_debug"]
    return debug


async def test_a_message_without_retrieval_calls_neither_search_nor_graph(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.answer = ["Fifteen minutes, as a rule."]
    async with start(model_settings) as service:
        ended = await answered_run(service, rag_enabled=False)
    assert (world.searches, world.structural, len(world.recalls)) == ([], [], 1)
    assert ended["answer"]["content"] == "Fifteen minutes, as a rule."
    assert "asked for an answer without the documents" in world.chats[0]["messages"][0]["content"]
    assert searched(ended)["path"] == ["decide_retrieve"]
    assert (searched(ended)["rag_enabled"], searched(ended)["rag_query"]) == (False, None)
    assert "Was asked to answer without the documents" in ended["steps_executed"]


async def test_without_retrieval_and_without_a_model_the_answer_says_so(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        ended = await answered_run(service, rag_enabled=False)
    assert ended["answer"]["content"].startswith("You asked for an answer without the documents")


async def test_retrieval_is_enabled_by_default(start: Any, settings: Any, world: Any) -> None:
    async with start(settings) as service:
        ended = await answered_run(service)
    reported = searched(ended)
    assert (reported["rag_enabled"], reported["rag_scope"], reported["rag_query"]) == (True, "workspace", QUESTION)
    assert (reported["conversation_mode"], reported["active_pdf_document_id"]) == ("normal", None)
    assert reported["path"] == ["decide_retrieve", "select_scope", "rewrite_query", "global"]
    assert [one["chunk_id"] for one in reported["rag_citations"]] == [hit["chunk_id"] for hit in world.hits]
    assert reported["rag_context"] == len(world.hits)


async def test_the_scope_of_a_message_overrides_the_documents_of_the_session(
    start: Any, settings: Any, world: Any
) -> None:
    attached = str(uuid4())
    async with start(settings) as service:
        session, bare = await service.session(), await service.session()
        await service.client.put(f"/v1/sessions/{session}/documents/{attached}")
        scopes = [
            searched(await answered_run(service, session))["rag_scope"],
            searched(await answered_run(service, session, rag_scope="session"))["rag_scope"],
            searched(await answered_run(service, session, rag_scope="workspace"))["rag_scope"],
        ]
        empty = await answered_run(service, bare, rag_scope="session")
    assert scopes == ["session", "session", "workspace"]
    limits = [body.get("document_ids") for body, _ in world.searches]
    assert limits == [[attached], [attached], None, []]
    assert empty["issues"] == ["the session has no such documents, so nothing was searched"]


async def test_chatpdf_searches_the_documents_of_the_session_or_the_open_one(
    start: Any, settings: Any, world: Any
) -> None:
    first, second = str(uuid4()), str(uuid4())
    async with start(settings) as service:
        session = await service.session()
        for one in (first, second):
            await service.client.put(f"/v1/sessions/{session}/documents/{one}")
        whole = await answered_run(service, session, conversation_mode="chatpdf")
        open_one = await answered_run(service, session, conversation_mode="chatpdf", active_pdf_document_id=first)
        foreign = await answered_run(service, session, conversation_mode="chatpdf", active_pdf_document_id=str(uuid4()))
        alone = await answered_run(service, conversation_mode="chatpdf", active_pdf_document_id=first)
    limits = [body["document_ids"] for body, _ in world.searches]
    assert limits == [[second, first], [first], [], [first]]
    assert {searched(one)["path"][-1] for one in (whole, open_one, foreign, alone)} == {"local"}
    assert searched(open_one)["active_pdf_document_id"] == first
    assert world.structural == []


@pytest.mark.parametrize(
    "body",
    [
        {"active_pdf_document_id": str(uuid4())},
        {"conversation_mode": "chatpdf", "rag_scope": "global"},
        {"rag_scope": "everything"},
        {"conversation_mode": "other"},
    ],
)
async def test_contradictory_options_are_refused(start: Any, settings: Any, body: dict[str, Any]) -> None:
    async with start(settings) as service:
        path = f"/v1/sessions/{await service.session()}/messages"
        response = await service.client.post(path, json={"content": QUESTION, **body})
    assert response.status_code == 422


async def test_documents_being_processed_are_awaited(start: Any, settings: Any, world: Any) -> None:
    document = str(uuid4())
    async with start(settings) as service:
        session = await service.session()
        await service.client.put(f"/v1/sessions/{session}/documents/{document}")
        world.unread = {document}
        ended = await answered_run(service, session)
    assert (world.documents_awaited, ended["issues"]) == ([document], [])


async def test_documents_not_processed_in_time_are_named(start: Any, settings: Any, world: Any) -> None:
    document = str(uuid4())
    world.unread, world.read_in_time = {document}, False
    async with start(settings) as service:
        session = await service.session()
        await service.client.put(f"/v1/sessions/{session}/documents/{document}")
        ended = await answered_run(service, session)
    assert ended["issues"] == [f"{document}.md could not be searched yet: still being read"]
    assert len(world.searches) == 1


@pytest.mark.parametrize("switch", ["setting", "message"])
async def test_the_query_is_rewritten_from_the_conversation(
    start: Any, model_settings: Any, world: Any, switch: str
) -> None:
    world.scripted = {REWRITE: [json.dumps({"query": "validity of tokens", "others": ["token lifetime"]})]}
    by_setting = switch == "setting"
    settings = model_settings.model_copy(update={"rewrite_query": by_setting})
    async with start(settings) as service:
        session = await service.session()
        first = await answered_run(service, session, rewrite_query=False)
        ended = await answered_run(service, session, "And how long?", **({} if by_setting else {"rewrite_query": True}))
    assert searched(first)["rag_query"] == QUESTION
    assert searched(ended)["rag_query"] == "validity of tokens"
    body, _ = world.searches[1]
    assert (body["query"], body["queries"]) == ("validity of tokens", ["token lifetime"])
    assert ended["timings"]["rewrite_query"] > 0
    (prompt,) = [one["messages"][0]["content"] for one in world.chats if REWRITE in one["messages"][0]["content"]]
    assert QUESTION in prompt


async def test_the_query_is_unchanged_if_the_model_cannot_rewrite_it(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.scripted = {REWRITE: None}
    async with start(model_settings) as service:
        ended = await answered_run(service, rewrite_query=True)
    assert world.searches[0][0]["query"] == QUESTION
    assert ended["issues"][0].startswith("the documents were searched by the message as it is")


async def test_searching_every_workspace_requires_a_wide_key(start: Any, settings: Any, world: Any) -> None:
    async with start(settings) as service:
        path = f"/v1/sessions/{await service.session()}/messages"
        response = await service.client.post(path, json={"content": QUESTION, "rag_scope": "global"})
        listed = (await service.client.get(path)).json()["items"]
    assert (response.status_code, response.json()["type"]) == (403, "global-needs-key")
    assert (listed, world.searches) == ([], [])


async def test_a_run_passes_the_workspaces_its_caller_may_read_to_retrieval(
    start: Any, settings: Any, world: Any, wide: dict[str, str], token_keys: Any
) -> None:
    async with start(settings) as service:
        service.client.headers.update(wide)
        ended = await answered_run(service, rag_scope="global")
        await answered_run(service)
    assert searched(ended)["rag_scope"] == "global"
    assert [body["scope"] for body, _ in world.searches] == ["global", "workspace"]
    reported = token_keys.tokens("retrieval").verify(world.searches[0][1].removeprefix("Bearer "))
    assert reported.readable == (UUID(ELSEWHERE),)
    assert {one["workspace_id"] for one in ended["answer"]["citations"]} == {ELSEWHERE}


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
async def test_the_openai_api_searches_every_workspace_if_the_key_reads_several(
    start: Any, settings: Any, world: Any, wide: dict[str, str], token_keys: Any, path: str
) -> None:
    messages = [{"role": "user", "content": QUESTION}]

    async def ask(service: Any, scope: str, headers: dict[str, str] | None = None) -> Any:
        body = {"model": "attractor", "messages": messages, "input": messages, "metadata": {"rag_scope": scope}}
        return await service.client.post(f"/v1/{path}", json=body, headers=headers)

    async with start(settings) as service:
        refused, unknown = await ask(service, "global"), await ask(service, "planet", wide)
        assert world.searches == []
        answered = await ask(service, "global", wide)
        await ask(service, "workspace")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "global_needs_key")
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "metadata.rag_scope")
    assert answered.status_code == 200, answered.text
    assert [body["scope"] for body, _ in world.searches] == ["global", "workspace"]
    reported = token_keys.tokens("retrieval").verify(world.searches[0][1].removeprefix("Bearer "))
    assert reported.readable == (UUID(ELSEWHERE),)
    assert TOKENS_QUOTE in answered.text


async def test_losing_access_to_other_workspaces_prevents_a_regenerated_answer_from_them(
    start: Any, settings: Any, wide: dict[str, str], auth_headers: Callable[..., dict[str, str]]
) -> None:
    async with start(settings) as service:
        run = await service.client.post(
            f"/v1/sessions/{await service.session()}/messages",
            json={"content": QUESTION, "rag_scope": "global"},
            headers=wide,
        )
        await service.events(run.json()["id"])
        path = f"/v1/messages/{run.json()['answer_id']}/regenerate"
        refused = await service.client.post(path, json={}, headers=auth_headers())
        again = await service.client.post(path, json={}, headers=wide)
    assert (refused.status_code, refused.json()["type"]) == (403, "global-needs-key")
    assert again.status_code == 202


async def test_a_citation_says_by_which_path_of_the_graph_it_was_found(
    start: Any, model_settings: Any, world: Any
) -> None:
    path = ["Lothair II", "son of", "Ermengarde of Tours"]
    world.hits = [{**world.hits[0], "graph_path": path}, world.hits[1]]
    async with start(model_settings) as service:
        ended = await answered_run(service)
    found = {one["chunk_id"]: one["graph_path"] for one in ended["answer"]["citations"]}
    assert found.pop(world.hits[0]["chunk_id"]) == path
    assert not any(found.values())


async def test_a_citation_has_the_boxes_of_the_lines_that_its_quote_is_on(
    start: Any, model_settings: Any, world: Any
) -> None:
    content = world.hits[0]["content"]
    words = content.split()
    ends = [len(" ".join(words[: at + 1])) for at in range(len(words))]
    boxes = [
        {"page": 1, "box": [72.0, 10.0 * at, 90.0, 10.0 * at + 9], "start": end - len(word), "end": end}
        for at, (word, end) in enumerate(zip(words, ends, strict=True))
    ]
    assert " ".join(words) == content
    world.hits = [{**world.hits[0], "boxes": boxes}, world.hits[1]]
    async with start(model_settings) as service:
        ended = await answered_run(service)
    cited = [one for one in ended["answer"]["citations"] if one["chunk_id"] == world.hits[0]["chunk_id"]]
    assert cited
    for one in cited:
        told = [content[box["start"] : box["end"]] for box in one["boxes"]]
        assert told == one["quote"].split()


async def test_a_citation_says_where_its_chunk_stands_in_the_markdown_of_its_document(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.hits = [{**world.hits[0], "markdown_start": 120, "markdown_end": 170}, world.hits[1]]
    async with start(model_settings) as service:
        ended = await answered_run(service)
    found = {one["chunk_id"]: (one["markdown_start"], one["markdown_end"]) for one in ended["answer"]["citations"]}
    assert found.pop(world.hits[0]["chunk_id"]) == (120, 170)
    assert set(found.values()) <= {(None, None)}


async def test_content_from_other_workspaces_is_neither_remembered_nor_shared(
    start: Any, model_settings: Any, wide: dict[str, str], redis_url: str, token_keys: Any
) -> None:
    async with start(model_settings) as service, Redis.from_url(redis_url, decode_responses=True) as redis:
        service.client.headers.update(wide)
        session = await service.session()
        far = await answered_run(service, session, rag_scope="global")
        near = await answered_run(service, session)
        async with asyncio.timeout(120):
            turns = list[dict[str, Any]]()
            while len(turns) < 2:
                await asyncio.sleep(0.02)  # no event for this state
                events = [json.loads(entry["event"]) for _, entry in await redis.xrange("attractor.turns")]
                turns = [event for event in events if event["type"].startswith("turn.")]
        first, second = turns
        made = (await service.client.post(f"/v1/sessions/{session}/shares", json={})).json()
        parsed = ShareToken.parse(made["token"])
        assert parsed is not None
        signed = token_keys.tokens("gateway").sign(ServiceCaller("gateway", parsed.workspace_id), "orchestrator")
        body = {"share_id": str(parsed.share_id), "secret": parsed.secret}
        headers = {"Authorization": f"Bearer {signed}"}
        opened = (await service.client.post(SHARES_PATH, json=body, headers=headers)).json()
    assert far["answer"]["citations"]
    assert (first["type"], first["data"]["run_id"]) == ("turn.discarded.v1", far["id"])
    assert first["data"].keys() == {"session_id", "run_id", "user_id"}
    assert (second["type"], second["data"]["run_id"]) == ("turn.completed.v2", near["id"])
    answers = [one for one in opened["session"]["messages"] if one["role"] == "assistant"]
    assert [(one["withheld"], bool(one["content"]), bool(one["citations"])) for one in answers] == [
        (True, False, False),
        (False, True, True),
    ]


async def test_an_artifact_is_written_only_from_its_own_workspace(
    start: Any, model_settings: Any, world: Any, wide: dict[str, str]
) -> None:
    async with start(model_settings) as service:
        service.client.headers.update(wide)
        ended = await answered_run(
            service, content="Write a report on tokens", rag_scope="global", artifact_action="generate_artifact"
        )
    assert [body["scope"] for body, _ in world.searches] == ["workspace"]
    assert ended["issues"] == [
        "an artifact is written from the documents of its own workspace alone, so no other one was searched"
    ]


async def test_a_call_slower_than_its_deadline_is_skipped_and_named(start: Any, settings: Any, world: Any) -> None:
    world.silent = True
    limits = {
        f"{name}_timeout_seconds": seconds for name, seconds in (("search", 0.3), ("graph", 0.2), ("recall", 0.1))
    }
    async with start(settings.model_copy(update=limits)) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["status"] == "completed"
    assert sorted(ended["issues"]) == [
        "knowledge-graph did not answer within 0.2 s",
        "memory did not answer within 0.1 s",
        "retrieval did not answer within 0.3 s",
    ]
