"""One user's memories reach no other user of the workspace: every route, with the other's ids and words."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from contracts.events import TURNS
from contracts.world import StagedOperations, WorldOperation, WorldOperationKind

SECRET = "walrus-5512"
TOPIC = StagedOperations(
    of_session=True, operations=[WorldOperation(op=WorldOperationKind.add, path="/topics", value=SECRET)]
)
QUESTION = "Where is my locker?"
QUERIES = {"about": SECRET, "q": SECRET, "query": SECRET, "limit": "200", "token_budget": "900", "since": "1"}
BODIES = [
    {},
    {"query": QUESTION, "k": 50, "explain": True, "token_budget": 4_000, "profile_tokens": 500},
    {"query": SECRET, "explain": True},
    {"query": SECRET, "scope": "workspace"},
    {"about": SECRET, "preview": True},
    {"query": QUESTION, "preview": True},
    {"content": "mine"},
    {"pinned": True},
    {"operations": [{"op": "add", "path": "/topics", "value": "mine"}]},
]


@pytest.fixture
async def owned(client, streams, principal, auth_headers):
    """Returns the ids of one user's messages, fact, note and session, all of which have the secret."""
    session, run = uuid4(), uuid4()
    told = {"session_id": session, "run_id": run, "question_id": uuid4(), "answer_id": uuid4()}
    await streams.turn(
        principal.user_id, f"My locker number is {SECRET}.", [], answer=f"So it is {SECRET}.", world=TOPIC, **told
    )
    await client.post("/v1/memories", json={"content": f"The locker is {SECRET}."}, headers=auth_headers())
    await streams.drained(TURNS)
    items = (await client.get("/v1/memories", headers=auth_headers())).json()["items"]
    assert {one["kind"] for one in items} == {"episode", "fact", "note"}
    return {"memory_id": [one["id"] for one in items], "session_id": [str(session)], "run_id": [str(run)]}


def bodies(path: str, method: str, owned: dict[str, list[str]]) -> list[dict | None]:
    if method not in {"post", "put", "patch"}:
        return [None]
    return [{"ids": owned["memory_id"]}, *BODIES] if path.endswith("/forget") else list(BODIES)


async def test_no_route_gives_another_user_of_the_workspace_what_is_remembered(client, auth_headers, owned):
    document = (await client.get("/openapi.json")).json()
    stranger, tried = auth_headers(user_id=uuid4()), 0
    for path, methods in document["paths"].items():
        for method in methods:
            names = re.findall(r"{(\w+)}", path)
            assert set(names) <= owned.keys(), f"{path}: say in this test which id of the other user to try"
            for identifier in owned[names[0]] if names else [""]:
                url = re.sub(r"{\w+}", identifier, path)
                for body in bodies(path, method, owned):
                    for params in ({}, {"session_id": owned["session_id"][0]}, QUERIES):
                        answer = await client.request(method, url, json=body, params=params, headers=stranger)
                        assert answer.status_code < 500, (method, path, answer.text)
                        if SECRET not in f"{body}{params}":
                            assert SECRET not in answer.text, (method, path, body, params)
                        assert "locker number" not in answer.text, (method, path, body, params)
                        if names:
                            assert answer.status_code in {404, 405, 422}, (method, path, body, answer.text)
                        tried += 1
    assert tried > 100
    mine = (await client.get("/v1/memories", headers=auth_headers())).json()["items"]
    assert sorted(one["id"] for one in mine) == sorted(owned["memory_id"])
    found = await client.post("/v1/memories/recall", json={"query": QUESTION}, headers=auth_headers())
    assert SECRET in found.text
