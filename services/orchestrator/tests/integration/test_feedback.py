"""Feedback on answers: given by their users, read by owners."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from contracts.gateway import Role

NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"


async def answered(service: Any, session: str | None = None, question: str = "How long are tokens valid?") -> Any:
    """Returns the question and the answer of an ended run."""
    run = await service.ask(session or await service.session(), question)
    await service.events(run["id"])
    return run["question_id"], run["answer_id"]


def path_of(message: str) -> str:
    return f"/v1/messages/{message}/feedback"


@pytest.fixture
def owner(auth_headers: Any) -> dict[str, str]:
    """Somebody else, of the same workspace."""
    headers: dict[str, str] = auth_headers(role=Role.owner, user_id=uuid4())
    return headers


async def test_an_answer_shows_the_feedback_of_its_user(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session = await service.session()
        _, answer = await answered(service, session)
        body = {"rating": "down", "reasons": ["outdated"], "comment": " It moved. "}
        given = await service.client.put(path_of(answer), json=body)
        assert given.status_code == 200, given.text
        assert given.json()["comment"] == "It moved."

        async def shown() -> Any:
            path = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
            tree = (await service.client.get(f"/v1/sessions/{session}/messages?tree=true")).json()["items"]
            assert path[0]["feedback"] is None
            assert path[1]["feedback"] == tree[1]["feedback"]
            return path[1]["feedback"]

        first = await shown()
        assert (first["rating"], first["reasons"], first["share_content"]) == ("down", ["outdated"], False)
        await service.client.put(path_of(answer), json={"rating": "up"})
        second = await shown()
        assert (second["rating"], second["reasons"], second["comment"]) == ("up", [], None)
        assert second["created_at"] == first["created_at"] < second["updated_at"]
        for _ in range(2):
            assert (await service.client.delete(path_of(answer))).status_code == 204
        assert await shown() is None


async def test_owners_see_who_gave_feedback_and_see_texts_only_if_shared(
    start: Any, settings: Any, owner: dict[str, str], principal: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        answers = [(await answered(service, question=f"Are tokens {word}?"))[1] for word in ("valid", "secret", "old")]
        for answer, rating, shared in zip(answers, ("up", "down", "down"), (True, False, True), strict=True):
            body = {"rating": rating, "comment": f"c {rating}", "share_content": shared}
            assert (await service.client.put(path_of(answer), json=body)).status_code == 200

        async def listed(**params: Any) -> list[Any]:
            entries, cursor = [], None
            while True:
                given = {"limit": 1, **params, **({"cursor": cursor} if cursor else {})}
                page = (await service.client.get("/v1/feedback", params=given, headers=owner)).json()
                entries += page["items"]
                if not (cursor := page["next_cursor"]):
                    return entries

        entries = await listed()
        assert [entry["message_id"] for entry in entries] == answers[::-1]
        assert {entry["user_id"] for entry in entries} == {str(principal.user_id)}
        assert [entry["question"] for entry in entries] == ["Are tokens old?", None, "Are tokens valid?"]
        assert [bool(entry["answer"]) for entry in entries] == [True, False, True]
        assert [entry["message_id"] for entry in await listed(rating="up")] == answers[:1]

        exported = await service.client.get("/v1/feedback/export", params={"rating": "down"}, headers=owner)
        assert exported.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line) for line in exported.text.splitlines()] == entries[:2]
        table = await service.client.get("/v1/feedback/export", params={"format": "csv"}, headers=owner)
        assert table.headers["content-disposition"] == 'attachment; filename="feedback.csv"'
        assert [row["message_id"] for row in csv.DictReader(io.StringIO(table.text))] == answers[::-1]
        assert "secret" not in table.text

        for path in ("/v1/feedback", "/v1/feedback/export"):
            for role in (Role.viewer, Role.editor):
                refused = await service.client.get(path, headers=auth_headers(role=role))
                assert refused.status_code == 403, (path, role)
            elsewhere = auth_headers(role=Role.owner, workspace_id=uuid4())
            assert "c up" not in (await service.client.get(path, headers=elsewhere)).text


async def test_the_export_contains_all_pages(start: Any, settings: Any, owner: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("orchestrator.feedback.api.EXPORTED_AT_ONCE", 2)
    async with start(settings) as service:
        answers = [(await answered(service))[1] for _ in range(5)]
        for answer in answers:
            await service.client.put(path_of(answer), json={"rating": "up"})
        lines = (await service.client.get("/v1/feedback/export", headers=owner)).text.splitlines()
    assert [json.loads(line)["message_id"] for line in lines] == answers[::-1]


async def test_feedback_is_deleted_with_its_answer(start: Any, settings: Any, owner: dict[str, str]) -> None:
    async with start(settings) as service:
        session = await service.session()
        question, first = await answered(service, session)
        other = await service.session()
        _, second = await answered(service, other)
        for answer in (first, second):
            await service.client.put(path_of(answer), json={"rating": "up"})

        async def count() -> int:
            return len((await service.client.get("/v1/feedback", headers=owner)).json()["items"])

        assert await count() == 2
        await service.client.delete(f"/v1/messages/{question}")
        assert await count() == 1
        await service.client.delete(f"/v1/sessions/{other}")
        assert await count() == 0


async def test_a_regenerated_answer_starts_without_a_rating(
    start: Any, model_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise psycopg.OperationalError("the server closed the connection")

    async with start(model_settings.model_copy(update={"run_max_attempts": 1})) as service, asyncio.timeout(120):
        with monkeypatch.context() as patched:
            patched.setattr("orchestrator.graphs.conversation.nodes.verify_citations.verified", away)
            run = await service.ask(await service.session())
            await service.events(run["id"])
        await service.client.put(path_of(run["answer_id"]), json={"rating": "down"})
        assert (await service.run(run["id"]))["answer"]["feedback"]["rating"] == "down"
        await service.client.post(f"/v1/runs/{run['id']}/retry")
        await service.events(run["id"])
        answer = (await service.run(run["id"]))["answer"]
    assert (answer["status"], answer["feedback"]) == ("completed", None)


async def test_users_rate_only_their_own_finished_answers(
    start: Any, model_settings: Any, world: Any, other_user: Any, auth_headers: Any
) -> None:
    writing, go = asyncio.Event(), asyncio.Event()

    async def held(_: int) -> None:
        writing.set()
        await go.wait()

    async with start(model_settings) as service, asyncio.timeout(120):
        question, answer = await answered(service)
        assert (await service.client.put(path_of(question), json={"rating": "up"})).status_code == 409
        for headers in (other_user, auth_headers(workspace_id=uuid4()), auth_headers(role=Role.owner, user_id=uuid4())):
            for method, body in (("PUT", {"rating": "up"}), ("DELETE", None)):
                response = await service.client.request(method, path_of(answer), json=body, headers=headers)
                assert (response.status_code, response.json()["type"]) == (404, "message-not-found")
        world.pace = held
        run = await service.ask(await service.session())
        await writing.wait()
        early = await service.client.put(path_of(run["answer_id"]), json={"rating": "up"})
        assert (early.status_code, early.json()["type"]) == (409, "not-an-ended-answer")
        go.set()
        await service.events(run["id"])
        assert (await service.client.put(path_of(run["answer_id"]), json={"rating": "up"})).status_code == 200


async def test_invalid_feedback_is_refused(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        _, answer = await answered(service)
        bodies: list[Any] = [
            {},
            {"rating": "sideways"},
            {"rating": "up", "reasons": [""]},
            {"rating": "up", "reasons": ["r" * 101]},
            {"rating": "up", "reasons": ["r"] * 11},
            {"rating": "up", "comment": "c" * 5_001},
            {"rating": "up", "comment": "a\x00b"},
            {"rating": "up", "stars": 5},
        ]
        for body in bodies:
            assert (await service.client.put(path_of(answer), json=body)).status_code == 422, body
        assert (await service.client.put(path_of("no-id"), json={"rating": "up"})).status_code == 422


async def test_naughty_strings_are_treated_as_data(start: Any, settings: Any, owner: dict[str, str]) -> None:
    if not NAUGHTY.exists():
        pytest.skip("the naughty strings are not here (../shared/eval/naughty-strings)")
    kept = None
    async with start(settings) as service:
        _, answer = await answered(service)
        for text in json.loads(NAUGHTY.read_text(encoding="utf-8")):
            body = {"rating": "down", "reasons": [text[:100]], "comment": text}
            content = json.dumps(body).encode()
            headers = {"Content-Type": "application/json"}
            response = await service.client.put(path_of(answer), content=content, headers=headers)
            assert response.status_code in {200, 422}, (text, response.text)
            if response.status_code == 200:
                kept = text.strip()
                assert response.json()["comment"] == kept
        for format in ("jsonl", "csv"):
            exported = await service.client.get("/v1/feedback/export", params={"format": format}, headers=owner)
            assert exported.status_code == 200, format
        [entry] = (await service.client.get("/v1/feedback", headers=owner)).json()["items"]
    assert entry["comment"] == kept
