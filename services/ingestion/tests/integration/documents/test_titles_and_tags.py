"""Titles and tags that users give their documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

import httpx2

from contracts.events import DocumentDescribed, Event
from contracts.gateway import Role

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


async def test_a_given_title_and_tags_stay_when_the_file_changes(
    searchable: Entry, client: httpx2.AsyncClient, process: Process, settled: Any
) -> None:
    document = await searchable("plan.md", b"Plan\ntext")
    path = f"/v1/documents/{document['id']}"
    answer = await client.patch(path, json={"title": "  The plan of May ", "tags": ["Plans", "May", "Plans"]})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["title"], answer.json()["tags"]) == ("The plan of May", ["Plans", "May"])
    assert [one["id"] for one in (await client.get("/v1/documents", params={"tag": "plans"})).json()["items"]] == [
        document["id"]
    ]
    await client.put(path, files=[("file", ("plan.md", b"Another plan\ntext"))])
    await process(document["id"])
    changed = await settled(document["id"])
    assert (changed["version"], changed["title"], changed["tags"]) == (2, "The plan of May", ["Plans", "May"])
    only_tags = (await client.patch(path, json={"tags": []})).json()
    assert (only_tags["title"], only_tags["tags"]) == ("The plan of May", [])


async def test_services_hear_of_a_given_title(
    searchable: Entry, client: httpx2.AsyncClient, neighbours: Any, eventually: Any
) -> None:
    document = await searchable("plan.md", b"Plan\ntext")
    await client.patch(f"/v1/documents/{document['id']}", json={"title": "May", "tags": ["plans"]})

    async def described() -> list[tuple[str | None, list[str]]]:
        entries = await neighbours.redis.xrange("attractor.documents")
        events = [Event.model_validate_json(fields[b"event"]) for _, fields in entries]
        found = [DocumentDescribed.model_validate(one.data) for one in events if one.type == "document.described.v2"]
        return [(one.title, one.tags) for one in found]

    assert (await eventually(described))[-1] == ("May", ["plans"])


async def test_what_cannot_be_a_title_or_tag_is_refused(
    upload: Entry, client: httpx2.AsyncClient, auth_headers: Callable[..., dict[str, str]]
) -> None:
    document = (await upload("plan.md", b"Plan"))["document"]
    path = f"/v1/documents/{document['id']}"
    for body in ({}, {"title": " "}, {"title": "x" * 501}, {"tags": ["a"] * 51}, {"tags": [""]}, {"name": "b.md"}):
        assert (await client.patch(path, json=body)).status_code == 422, body
    assert (await client.patch(f"/v1/documents/{UUID(int=7)}", json={"title": "a"})).status_code == 404
    viewer = await client.patch(path, json={"title": "a"}, headers=auth_headers(role=Role.viewer))
    assert viewer.status_code == 403
