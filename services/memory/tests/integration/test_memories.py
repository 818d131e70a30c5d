"""Notes over HTTP: who sees what, semantic recall, invalid input."""

from __future__ import annotations

import json
from uuid import uuid4

import psycopg
import pytest

from contracts.gateway import Role

NOTES = ["The billing database moves to Frankfurt in May.", "Anna prefers short answers.", "Pancakes need buttermilk."]


@pytest.fixture
async def notes(client, auth_headers):
    return [
        (await client.post("/v1/memories", json={"content": note}, headers=auth_headers())).json() for note in NOTES
    ]


@pytest.mark.usefixtures("notes")
async def test_recall_ranks_by_meaning(client, auth_headers):
    response = await client.post(
        "/v1/memories/recall", json={"query": "Where will invoices data be hosted?", "k": 2}, headers=auth_headers()
    )
    found = response.json()["memories"]
    assert found[0]["content"] == NOTES[0]
    assert [one["kind"] for one in found] == ["note"]  # the others say nothing of it


@pytest.mark.usefixtures("notes")
async def test_nothing_relevant_gives_an_empty_list(client, auth_headers):
    body = {"query": "What is the melting point of copper?", "k": 5}
    response = await client.post("/v1/memories/recall", json=body, headers=auth_headers())
    assert (response.json()["memories"], response.json()["mode"]) == ([], "full")


@pytest.mark.usefixtures("notes")
async def test_recall_explains_its_scores(client, auth_headers):
    body = {"query": "When does the billing database move?", "explain": True}
    [found] = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    assert {"cos", "words", "soft_match", "on_date", "tells_time"} <= found["features"].keys()
    assert found["features"]["tells_time"] == 1


@pytest.mark.usefixtures("notes")
async def test_near_duplicates_are_recalled_once_with_a_count(client, auth_headers):
    for again in (NOTES[0], NOTES[0].lower(), NOTES[0].replace(".", "!")):
        stored = await client.post("/v1/memories", json={"content": again}, headers=auth_headers())
        assert stored.status_code == 201
    other = "The billing database has a replica in Dublin."
    await client.post("/v1/memories", json={"content": other}, headers=auth_headers())
    body = {"query": "Where is the billing database?", "k": 10}
    found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    recalled = sorted((one["content"].lower().rstrip(".!"), one["duplicates"]) for one in found)
    assert recalled == [(other.lower().rstrip("."), 0), (NOTES[0].lower().rstrip("."), 3)]


async def test_an_edited_note_is_found_by_its_new_words(client, auth_headers, notes):
    path, edit = f"/v1/memories/{notes[2]['id']}", {"content": "Waffles need yeast."}
    assert (await client.patch(path, json=edit, headers=auth_headers(user_id=uuid4()))).status_code == 404
    assert (await client.patch(path, json=edit, headers=auth_headers())).json()["content"] == edit["content"]
    body = {"query": "What do waffles need?"}
    [found] = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    assert found["id"] == notes[2]["id"]


async def test_an_unknown_time_zone_is_refused(client, auth_headers):
    body = {"query": "x", "time_zone": "Mars/Olympus"}
    refused = await client.post("/v1/memories/recall", json=body, headers=auth_headers())
    assert (refused.status_code, refused.json()["type"]) == (422, "time-zone-unknown")


@pytest.mark.usefixtures("notes")
async def test_a_deleted_memory_is_no_longer_recalled(client, auth_headers, notes):
    body = {"query": NOTES[0]}
    assert (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    await client.delete(f"/v1/memories/{notes[0]['id']}", headers=auth_headers())
    assert (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"] == []


@pytest.mark.usefixtures("notes")
async def test_the_list_is_paginated_newest_first(client, auth_headers):
    first = (await client.get("/v1/memories?limit=2&kind=note", headers=auth_headers())).json()
    second = (
        await client.get("/v1/memories", params={"limit": 2, "cursor": first["next_cursor"]}, headers=auth_headers())
    ).json()
    assert [one["content"] for one in first["items"] + second["items"]] == NOTES[::-1]
    assert second["next_cursor"] is None
    assert (await client.get("/v1/memories?kind=episode", headers=auth_headers())).json()["items"] == []


@pytest.mark.parametrize("stranger", ["other user", "other workspace"])
async def test_memories_are_private_to_their_user(client, auth_headers, notes, stranger):
    headers = auth_headers(user_id=uuid4()) if stranger == "other user" else auth_headers(workspace_id=uuid4())
    assert (await client.get("/v1/memories", headers=headers)).json()["items"] == []
    recalled = await client.post("/v1/memories/recall", json={"query": NOTES[0]}, headers=headers)
    assert recalled.json()["memories"] == []
    refused = await client.delete(f"/v1/memories/{notes[0]['id']}", headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (404, "memory-not-found")
    assert len((await client.get("/v1/memories", headers=auth_headers())).json()["items"]) == len(NOTES)


@pytest.mark.usefixtures("notes")
async def test_row_level_security_hides_other_workspaces(app, workspace_id):
    with psycopg.connect(app.state.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (0,)
        connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(uuid4()),))
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (0,)
        connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace_id),))
        assert connection.execute("SELECT count(*) FROM memory").fetchone() == (len(NOTES),)


async def test_a_deleted_note_no_longer_exists(client, auth_headers, notes):
    path = f"/v1/memories/{notes[0]['id']}"
    assert (await client.delete(path, headers=auth_headers())).status_code == 204
    assert (await client.delete(path, headers=auth_headers())).status_code == 404


async def test_an_idempotency_key_stores_one_note(client, auth_headers):
    headers = auth_headers() | {"Idempotency-Key": "n-1"}
    first = await client.post("/v1/memories", json={"content": "once"}, headers=headers)
    again = await client.post("/v1/memories", json={"content": "once"}, headers=headers)
    other = await client.post("/v1/memories", json={"content": "twice"}, headers=headers)
    assert first.json() == again.json()
    assert (other.status_code, other.json()["type"]) == (409, "idempotency-key-reused")


async def test_a_viewer_reads_and_deletes_their_memories_but_creates_none(client, auth_headers):
    """Viewers have episodes of their own, so they may delete them."""
    user_id = uuid4()
    editor, viewer = (auth_headers(role=role, user_id=user_id) for role in (Role.editor, Role.viewer))
    note = (await client.post("/v1/memories", json={"content": "x"}, headers=editor)).json()["id"]
    assert (await client.get("/v1/memories", headers=viewer)).status_code == 200
    assert (await client.post("/v1/memories", json={"content": "y"}, headers=viewer)).status_code == 403
    other = auth_headers(role=Role.viewer, user_id=uuid4())
    assert (await client.delete(f"/v1/memories/{note}", headers=other)).status_code == 404
    assert (await client.delete(f"/v1/memories/{note}", headers=viewer)).status_code == 204
    assert (await client.get("/v1/memories", headers=viewer)).json()["items"] == []


BAD_NOTES = [
    {"content": ""},
    {"content": "a\x00b"},
    {"content": "\ud800"},
    {"content": "x" * 10_001},
    {"content": "x", "y": 1},
    {},
]


async def test_invalid_notes_are_refused(client, auth_headers):
    headers = auth_headers() | {"Content-Type": "application/json"}
    for body in BAD_NOTES:
        response = await client.post("/v1/memories", content=json.dumps(body), headers=headers)
        assert response.status_code == 422, body


async def test_invalid_parameters_are_refused(client, auth_headers):
    for path in ("/v1/memories?cursor=nonsense", "/v1/memories?kind=dream", "/v1/memories?limit=0"):
        assert (await client.get(path, headers=auth_headers())).status_code == 422
    assert (await client.get("/v1/memories")).status_code == 401
