"""Searches that a team keeps by name."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import DocumentIndexed, WorkspaceDeleted, WorkspacePurged
from contracts.gateway import Role

SAVED = "/v1/saved-searches"


@pytest.fixture
def asking(client, auth_headers):
    """asking(method, path, body, role=..., workspace_id=..., **headers): the response."""

    async def ask(method, path="", body=None, *, role=Role.editor, workspace_id=None, **headers):
        sent = auth_headers(role=role, workspace_id=workspace_id) | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await client.request(method, SAVED + path, json=body, headers=sent)

    return ask


async def test_a_search_is_kept_run_changed_and_deleted(asking, ingestion, converted):
    await ingestion.convert(await ingestion.embedded(converted(["The port is 8080.", "Ports are closed at night."])))
    await ingestion.wait_for(DocumentIndexed, 1)
    created = await asking("POST", body={"name": "Ports", "request": {"query": "port", "mode": "lexical", "top_k": 1}})
    assert created.status_code == 201, created.text
    saved = created.json()
    assert (saved["name"], saved["version"], saved["request"]["k"]) == ("Ports", 1, 1)
    assert created.headers["location"] == f"{SAVED}/{saved['id']}"

    run = f"/{saved['id']}/run"
    assert len((await asking("POST", run, role=Role.viewer)).json()["hits"]) == 1
    more = (await asking("POST", f"{run}?k=5", role=Role.viewer)).json()
    assert (len(more["hits"]), more["mode"]) == (2, "lexical")
    assert (await asking("POST", f"{run}?k=0")).status_code == 422

    one = f"/{saved['id']}"
    changed = await asking("PATCH", one, {"name": "Doors"}, If_Match=created.headers["etag"])
    assert (changed.json()["name"], changed.json()["version"], changed.json()["request"]["k"]) == ("Doors", 2, 1)
    assert (await asking("PATCH", one, {"name": "Late"}, If_Match=created.headers["etag"])).status_code == 412
    assert (await asking("DELETE", one, If_Match='"1"')).status_code == 412
    assert (await asking("GET", one)).headers["etag"] == '"2"'
    assert (await asking("DELETE", one, If_Match='"2"')).status_code == 204
    for method in ("GET", "DELETE"):
        assert (await asking(method, one)).json()["type"] == "saved-search-not-found"
    assert (await asking("POST", run)).status_code == 404


async def test_names_are_unique_in_a_workspace(asking):
    body = {"name": "Invoices", "request": {"query": "invoice"}}
    first = (await asking("POST", body=body)).json()
    assert (await asking("POST", body=body | {"name": "invoices"})).json()["type"] == "saved-search-name-taken"
    assert (await asking("POST", body=body, workspace_id=uuid4())).status_code == 201
    other = (await asking("POST", body=body | {"name": "Other"})).json()
    assert (await asking("PATCH", f"/{other['id']}", {"name": "INVOICES"})).status_code == 409
    assert (await asking("PATCH", f"/{first['id']}", {"name": "INVOICES"})).status_code == 200


async def test_the_same_key_gives_the_same_one(asking):
    body = {"name": "Once", "request": {"query": "once"}}
    first, second = [(await asking("POST", body=body, Idempotency_Key="k1")).json() for _ in range(2)]
    assert first == second


async def test_they_are_listed_in_pages_newest_first(asking):
    for number in range(5):
        await asking("POST", body={"name": f"n{number}", "request": {"query": "x"}})
    names, cursor = [], ""
    while cursor is not None:
        page = (await asking("GET", f"?limit=2{cursor and '&cursor=' + cursor}", role=Role.viewer)).json()
        names += [one["name"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert names == ["n4", "n3", "n2", "n1", "n0"]
    assert (await asking("GET", "?cursor=none")).status_code == 422


async def test_who_may_what(asking):
    body = {"name": "Mine", "request": {"query": "x"}}
    assert (await asking("POST", body=body, role=Role.viewer)).status_code == 403
    saved = (await asking("POST", body=body)).json()
    for method, sent in (("PATCH", {"name": "x"}), ("DELETE", None)):
        assert (await asking(method, f"/{saved['id']}", sent, role=Role.viewer)).status_code == 403
    for method, sent in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        assert (await asking(method, f"/{saved['id']}", sent, workspace_id=uuid4())).status_code == 404


async def test_what_is_not_valid_is_refused(asking):
    request = {"query": "x"}
    for body in (
        {"name": "", "request": request},
        {"name": "x", "request": {"query": ""}},
        {"name": "x", "request": request | {"surprise": 1}},
        {"name": "nul \x00", "request": request},
    ):
        assert (await asking("POST", body=body)).status_code == 422


async def test_a_search_of_every_workspace_needs_the_runner_s_right(asking):
    saved = (await asking("POST", body={"name": "Wide", "request": {"query": "x", "scope": "global"}})).json()
    assert (await asking("POST", f"/{saved['id']}/run")).json()["type"] == "global-needs-key"


async def test_they_go_with_their_workspace(asking, ingestion):
    await asking("POST", body={"name": "Gone", "request": {"query": "x"}})
    await ingestion.send(WorkspaceDeleted())
    (purged,) = await ingestion.wait_for(WorkspacePurged, 1)
    assert (purged.removed["saved_search"], purged.remaining["saved_search"]) == (1, 0)
