"""Each turn ends with its answer, then its topics, then the writing of memories."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import TURNS
from contracts.world import StagedOperations, WorldOperation, WorldOperationKind


@pytest.fixture
def world(client, auth_headers):
    async def read(session_id, path="", **who):
        response = await client.get(f"/v1/world{path}?session_id={session_id}", headers=auth_headers(**who))
        assert response.status_code == 200, response.text
        return response.json()

    return read


@pytest.fixture
def topics(world):
    async def read(session_id, **who):
        return (await world(session_id, **who))["document"]["topics"]

    return read


async def test_after_a_turn_its_topics_are_in_the_session_s_world_once_and_only_the_user_s_own(
    client, streams, principal, auth_headers, world, topics
):
    session, run = uuid4(), uuid4()
    same = {"session_id": session, "run_id": run, "question_id": uuid4(), "answer_id": uuid4()}
    for _ in range(2):
        await streams.turn(principal.user_id, "Who owns AuthService?", [], answer="Heron does.", **same)
    await streams.turn(principal.user_id, "And what about the token rotation of authservice?", [], session_id=session)
    await streams.drained(TURNS)
    assert await topics(session) == ["AuthService", "token rotation"]
    last, first, created = (await world(session, "/history"))["items"]
    assert [one["kind"] for one in (last, first, created)] == ["reflected", "reflected", "created"]
    assert (first["op"], first["path"], first["value"]) == ("add", "/topics", "AuthService")
    assert (first["run_id"], first["created_by"]) == (str(run), str(principal.user_id))
    whole = (await client.get("/v1/world", headers=auth_headers())).json()
    assert whole["document"]["topics"] == []


async def test_what_the_user_removed_from_the_topics_stays_removed_whatever_is_said(
    client, streams, principal, auth_headers, topics
):
    session = uuid4()
    await streams.turn(principal.user_id, "Who owns AuthService?", [], session_id=session)
    await streams.drained(TURNS)
    removed = {"operations": [{"op": "remove", "path": "/topics", "value": "AuthService"}]}
    response = await client.post(f"/v1/world/operations?session_id={session}", json=removed, headers=auth_headers())
    assert response.status_code == 200
    await streams.turn(principal.user_id, "Does AuthService use Redis?", [], session_id=session)
    by_run = StagedOperations(
        of_session=True, operations=[WorldOperation(op=WorldOperationKind.remove, path="/topics", value="Redis")]
    )
    await streams.turn(principal.user_id, "Remove Redis from the topics", [], session_id=session, world=by_run)
    await streams.drained(TURNS)
    assert await topics(session) == []


@pytest.mark.parametrize("writing", ["off", "review"])
async def test_a_workspace_that_does_not_keep_facts_at_once_gets_no_topics(
    client, streams, principal, auth_headers, topics, writing, owners
):
    session = uuid4()
    await client.put("/v1/memories/settings", json={"writing": writing}, headers=auth_headers())
    await streams.turn(principal.user_id, "Who owns AuthService?", [], session_id=session)
    await streams.drained(TURNS)
    owners.users[str(session)] = str(principal.user_id)
    assert await topics(session) == []


@pytest.mark.parametrize("way", ["ids", "delete", "about", "query"])
async def test_a_topic_goes_with_the_message_that_it_came_from(
    client, streams, principal, auth_headers, world, topics, way
):
    session, question = uuid4(), uuid4()
    await streams.turn(principal.user_id, "Tell me about Walrustown.", [], session_id=session, question_id=question)
    await streams.turn(principal.user_id, "And about Gemini?", [], session_id=session)
    await streams.drained(TURNS)
    assert await topics(session) == ["Walrustown", "Gemini"]
    if way == "delete":
        gone = await client.delete(f"/v1/memories/{question}", headers=auth_headers())
        assert gone.status_code == 204
    else:
        named = {"ids": {"ids": [str(question)]}, "about": {"about": "me about"}, "query": {"query": "Walrustown"}}[way]
        receipts = [
            (
                await client.post("/v1/memories/forget", json={**named, "preview": preview}, headers=auth_headers())
            ).json()
            for preview in (True, False)
        ]
        assert receipts[0]["removed"] == receipts[1]["removed"]
        assert (receipts[0]["removed"]["world"], receipts[0]["removed"]["world_event"]) == (1, 2)
    assert await topics(session) == ["Gemini"]
    assert "Walrustown" not in str(await world(session, "/history"))
    for version in range(1, 5):
        old = await client.get(f"/v1/world?session_id={session}&version={version}", headers=auth_headers())
        assert "Walrustown" not in old.text
