"""The routes of sources: permissions, refusals with reasons, and concurrent changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from contracts.gateway import Role
from contracts.sources import Source

MakeSource = Callable[..., Awaitable[Any]]
Headers = Callable[..., dict[str, str]]


async def test_a_source_is_created_read_and_listed(make_source: MakeSource, client: httpx2.AsyncClient) -> None:
    first = await make_source(sync=True, every_seconds=60)
    second = await make_source()
    created = Source.model_validate(first.created)
    assert created.last_sync is not None
    assert (created.last_sync.trigger, created.last_sync.status) == ("created", "queued")
    assert created.next_sync_at is not None
    read = await client.get(first.path)
    assert (read.json(), read.headers["etag"]) == (first.created, '"1"')
    assert second.created["last_sync"] is None
    page = (await client.get("/v1/sources", params={"limit": 1})).json()
    rest = (await client.get("/v1/sources", params={"limit": 1, "cursor": page["next_cursor"]})).json()
    assert [page["items"][0]["id"], rest["items"][0]["id"]] == [second.id, first.id]
    assert rest["next_cursor"] is None


async def test_the_same_idempotency_key_gives_the_same_source(client: httpx2.AsyncClient, documents: Path) -> None:
    body = {"name": "a", "config": {"kind": "folder", "path": str(documents)}}
    answers = [await client.post("/v1/sources", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await client.post("/v1/sources", json=body, headers={"Idempotency-Key": "other"})
    assert other.json()["id"] != answers[0].json()["id"]


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ({"kind": "folder", "path": "/etc"}, "SOURCE_ROOTS"),
        ({"kind": "folder", "path": "nothing-here"}, "No such file"),
        ({"kind": "folder", "path": ".", "include": ["!"]}, "pattern"),
        ({"kind": "git", "path": "."}, "not a git repository"),
        ({"kind": "git", "path": "/"}, "SOURCE_ROOTS"),
        ({"kind": "s3", "connection": "nowhere", "bucket": "bucket"}, "nowhere"),
        ({"kind": "web", "url": "http://127.0.0.1/"}, "not a public address"),
    ],
)
async def test_an_invalid_configuration_is_refused_with_a_readable_reason(
    config: dict[str, Any], part: str, client: httpx2.AsyncClient
) -> None:
    answer = await client.post("/v1/sources", json={"name": "a", "config": config})
    assert answer.status_code == 422, answer.text
    assert part in answer.json()["detail"]
    assert (await client.get("/v1/sources")).json()["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a", "config": {"kind": "folder", "path": ".", "color": 1}},
        {"name": "a", "config": {"kind": "tape", "path": "."}},
        {"name": " ", "config": {"kind": "folder", "path": "."}},
        {"name": "a", "config": {"kind": "folder", "path": "a\x00b"}},
        {"name": "a", "config": {"kind": "folder", "path": "."}, "every_seconds": 1},
    ],
)
async def test_malformed_bodies_are_refused(body: dict[str, Any], client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/sources", json=body)).status_code == 422


async def test_owners_create_sources_editors_synchronise_and_viewers_read(
    make_source: MakeSource, client: httpx2.AsyncClient, auth_headers: Headers
) -> None:
    source = await make_source()
    sync = (await source.start())["id"]
    needed = {
        ("POST", "/v1/sources"): Role.owner,
        ("PATCH", source.path): Role.owner,
        ("GET", "/v1/sources"): Role.viewer,
        ("GET", source.path): Role.viewer,
        ("POST", f"{source.path}/sync"): Role.editor,
        ("GET", f"{source.path}/syncs"): Role.viewer,
        ("GET", f"{source.path}/syncs/{sync}"): Role.viewer,
        ("GET", f"{source.path}/syncs/{sync}/changes"): Role.viewer,
        ("POST", f"{source.path}/syncs/{sync}/cancel"): Role.editor,
        ("DELETE", source.path): Role.owner,
    }
    for (method, path), role in needed.items():
        for caller in Role:
            if caller.rank < role.rank:
                answer = await client.request(method, path, headers=auth_headers(role=caller), json={"paused": True})
                assert answer.status_code == 403, (method, path, caller)
        allowed = await client.request(method, path, headers=auth_headers(role=role), json={"paused": True})
        assert allowed.status_code != 403, (method, path)


async def test_another_workspace_cannot_see_the_source(
    make_source: MakeSource, client: httpx2.AsyncClient, auth_headers: Headers
) -> None:
    source = await make_source()
    sync = (await source.start())["id"]
    stranger = auth_headers(workspace_id=uuid4())
    paths = [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/sync"), ("GET", "/syncs"), ("GET", "/receipt")]
    paths += [("GET", f"/syncs/{sync}"), ("GET", f"/syncs/{sync}/changes"), ("POST", f"/syncs/{sync}/cancel")]
    for method, path in paths:
        answer = await client.request(method, source.path + path, headers=stranger, json={"paused": True})
        assert answer.status_code == 404, (method, path)
    assert (await client.get("/v1/sources", headers=stranger)).json()["items"] == []
    assert (await source.read(sync))["status"] == "queued"
    other = await make_source()
    assert (await client.get(f"{other.path}/syncs/{sync}")).status_code == 404


async def test_a_change_based_on_a_stale_version_is_refused(
    make_source: MakeSource, client: httpx2.AsyncClient
) -> None:
    source = await make_source(every_seconds=60)
    change = {"name": "New", "every_seconds": None, "on_removed": "mark_stale", "watch": False}
    changed = await client.patch(source.path, json=change, headers={"If-Match": '"1"'})
    assert changed.status_code == 200, changed.text
    after = changed.json()
    assert (after["version"], after["name"], after["every_seconds"]) == (2, "New", None)
    assert (after["next_sync_at"], after["config"]["watch"]) == (None, False)
    stale = await client.patch(source.path, json={"name": "Other"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["type"]) == (412, "stale-version")
    for body in ({}, {"name": None}, {"paused": None}, {"path": "/etc"}, {"include": ["!"]}):
        assert (await client.patch(source.path, json=body)).status_code == 422, body


async def test_invalid_cursors_are_refused(make_source: MakeSource, client: httpx2.AsyncClient) -> None:
    source = await make_source()
    sync = (await source.start())["id"]
    for cursor in ("x", "-1", "9" * 30, "²"):
        answer = await client.get(f"{source.path}/syncs/{sync}/changes", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["type"]) == (422, "bad-cursor")


async def test_a_wait_ends_with_the_synchronisation(
    make_source: MakeSource, client: httpx2.AsyncClient, documents: Path
) -> None:
    (documents / "a.md").write_text("one")
    source = await make_source()
    sync = (await source.start())["id"]
    early = await client.get(f"{source.path}/syncs/{sync}", params={"wait": "finished", "timeout": 0.1})
    assert early.json()["status"] == "queued"
    await source.work()
    late = await client.get(f"{source.path}/syncs/{sync}", params={"wait": "finished", "timeout": 120})
    assert (late.json()["status"], late.json()["added"]) == ("succeeded", 1)
