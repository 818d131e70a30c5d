"""Reading documents through the API: lists, chunks, Markdown, counts, waits."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest

from contracts.ingestion import UNGRAPHED_PATH
from ingestion.documents.derived_objects import derived_keys
from service_kit.auth import ServiceCaller
from service_kit.objects import ObjectStore

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


async def test_chunks_are_read_with_pagination(searchable: Entry, client: httpx2.AsyncClient) -> None:
    lines = [f"Passage {index} é" for index in range(25)]
    document = await searchable("a.md", "\n".join(lines).encode())
    path, found, params = f"/v1/documents/{document['id']}/chunks", [], {"limit": "10"}
    while True:
        page = (await client.get(path, params=params)).json()
        found += [chunk["content"] for chunk in page["items"]]
        if page["next_cursor"] is None:
            break
        params = {"limit": "10", "cursor": page["next_cursor"]}
    assert found == lines
    last = page["items"][-1]
    assert (await client.get(f"{path}/{last['chunk_id']}")).json() == last
    gone = await client.get(f"{path}/{uuid4()}")
    assert (gone.status_code, gone.json()["type"]) == (404, "chunk-not-found")
    for bad in ("x", "WzEsMV0", "WzEsIDUsIDFd", "Wy0xLDAsMF0", "WzksIDAsIDBd"):
        answer = await client.get(path, params={"cursor": bad})
        assert (answer.status_code, answer.json()["type"]) == (422, "bad-cursor"), bad


async def test_markdown_is_served_as_a_download(searchable: Entry, client: httpx2.AsyncClient) -> None:
    document = await searchable("a.md", b"Title\n<script>alert(1)</script>")
    answer = await client.get(f"/v1/documents/{document['id']}/markdown")
    assert answer.text == "Title\n\n<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_chunks_from_before_their_places_were_noted_get_them_when_they_are_asked_for(
    searchable: Entry, client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID
) -> None:
    document = await searchable("a.md", b"Title\nSame\nOther\nSame\n***")
    key = derived_keys(workspace_id, UUID(document["id"]), 1).chunks
    stored = [json.loads(line) for line in object_store.get(key).splitlines()]
    before = [{name: value for name, value in one.items() if not name.startswith("markdown_")} for one in stored]
    object_store.put(key, "".join(json.dumps(one) + "\n" for one in before).encode())
    path = f"/v1/documents/{document['id']}"
    text = (await client.get(f"{path}/markdown")).text
    chunks = (await client.get(f"{path}/chunks")).json()["items"]
    assert [text[one["markdown_start"] : one["markdown_end"]] for one in chunks[:4]] == text.split("\n\n")[:4]
    assert [one["markdown_start"] for one in chunks[:4]] == [0, 7, 13, 20]
    assert (chunks[4]["markdown_start"], chunks[4]["markdown_end"]) == (None, None)
    for chunk in chunks:
        assert (await client.get(f"{path}/chunks/{chunk['chunk_id']}")).json() == chunk


async def test_an_unconverted_document_has_no_chunks(upload: Entry, client: httpx2.AsyncClient) -> None:
    document = (await upload())["document"]
    for part in ("chunks", "markdown"):
        answer = await client.get(f"/v1/documents/{document['id']}/{part}")
        assert (answer.status_code, answer.json()["type"]) == (404, "not-converted")
    assert len((await client.get(f"/v1/documents/{document['id']}/versions")).json()["items"]) == 1


async def test_versions_are_paginated(upload: Entry, client: httpx2.AsyncClient) -> None:
    document = (await upload("a.md", b"0"))["document"]
    for index in range(1, 5):
        answer = await client.put(f"/v1/documents/{document['id']}", files=[("file", ("a.md", b"%d" % index))])
        assert answer.status_code == 202
    path = f"/v1/documents/{document['id']}/versions"
    first = (await client.get(path, params={"limit": 3})).json()
    rest = (await client.get(path, params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [one["version"] for one in [*first["items"], *rest["items"]]] == [5, 4, 3, 2, 1]
    assert rest["next_cursor"] is None


async def test_the_list_is_filtered(
    upload: Entry, searchable: Entry, client: httpx2.AsyncClient, folder: Any, database: Any
) -> None:
    taken = await folder.take("a.md", b"of a source")
    uploaded = (await upload("b.txt"))["document"]
    embedded = await searchable("c.md")
    with psycopg.connect(database.admin) as connection:
        connection.execute("UPDATE ingestion.document SET tags = '{red,blue}' WHERE id = %s", (uploaded["id"],))

    async def found(**params: Any) -> list[str]:
        answer = await client.get("/v1/documents", params=params)
        assert answer.status_code == 200, answer.text
        return [one["name"] for one in answer.json()["items"]]

    assert await found(source_id=str(folder.source_id)) == ["a.md"]
    assert await found(source_type="folder") == ["a.md"]
    assert await found(source_type="upload") == ["c.md", "b.txt"]
    assert await found(tag="red") == ["b.txt"]
    assert await found(tag="re") == []
    assert await found(embedding_status="complete") == ["c.md"]
    assert await found(status="searchable", name="C") == [embedded["name"]]
    assert await found(stale=True) == []
    assert len(await found(stale=False)) == 3
    assert await found(ids=[uploaded["id"], embedded["id"], str(UUID(int=1))]) == ["c.md", "b.txt"]
    assert await found(content_hash=hashlib.sha256(b"of a source").hexdigest()) == ["a.md"]
    assert await found(content_hash="0" * 64) == []
    assert taken.document


async def test_the_summary_counts_documents_by_state(
    upload: Entry, process: Process, searchable: Entry, client: httpx2.AsyncClient, folder: Any
) -> None:
    empty = (await client.get("/v1/documents/summary")).json()
    assert (empty["total"], empty["seconds_left"], empty["by_status"]["failed"]) == (0, 0.0, 0)
    await folder.take("a.md", b"of a source")
    await process((await upload("broken-a.md"))["document"]["id"])
    await searchable("b.md")
    counts = (await client.get("/v1/documents/summary")).json()
    assert counts["total"] == 3
    assert counts["by_status"] == {"processing": 1, "searchable": 1, "failed": 1, "cancelled": 0, "deleting": 0}
    assert (counts["by_stage"]["convert"], counts["failures"]) == (1, {"corrupt-file": 1})
    assert (counts["queued_bytes"], counts["done_last_minute"]) == (len(b"of a source"), 1)
    assert counts["seconds_left"] >= 1
    assert counts["lanes"]["interactive"] == {"documents": 0, "oldest_seconds": 0.0}
    assert counts["lanes"]["bulk"]["documents"] == 1
    assert counts["workers"] == 0
    counts = (await client.get("/v1/documents/summary", params={"source_id": str(folder.source_id)})).json()
    assert (counts["total"], counts["failures"], counts["seconds_left"]) == (1, {}, None)


async def test_documents_that_are_not_in_the_graph_yet_are_counted(
    upload: Entry,
    process: Process,
    searchable: Entry,
    neighbours: Any,
    client: httpx2.AsyncClient,
    settled: Any,
    eventually: Any,
    workspace_id: UUID,
    token_keys: Any,
) -> None:
    async def lacking(name: str = "knowledge-graph") -> httpx2.Response:
        token = token_keys.tokens(name).sign(ServiceCaller(name, workspace_id), "ingestion")
        return await client.get(UNGRAPHED_PATH, headers={"Authorization": f"Bearer {token}"})

    async def count() -> int:
        return int((await lacking()).raise_for_status().json()["documents"])

    assert await count() == 0
    neighbours.silent.add("knowledge-graph")
    await process((await upload("broken-a.md"))["document"]["id"])
    assert await count() == 0  # what cannot be read never comes
    waiting = (await upload("b.md", b"to be converted"))["document"]["id"]
    assert await count() == 1
    await searchable("c.md", b"searchable, but not yet in the graph")
    assert await count() == 2
    gone = await searchable("d.md", b"deleted before it is in the graph")
    assert await count() == 3
    await client.delete(f"/v1/documents/{gone['id']}", params={"timeout": 0})
    await eventually(count, lambda found: found == 2)
    neighbours.silent.clear()
    await process(waiting)
    await settled(waiting, "graphed", 120)
    assert await count() == 1
    assert (await client.put(f"/v1/documents/{waiting}", files=[("file", ("b.md", b"new text"))])).status_code == 202
    assert await count() == 2  # the graph has an older version
    assert (await lacking("memory")).status_code == 403
    assert (await client.get(UNGRAPHED_PATH)).status_code == 403


@pytest.mark.parametrize("awaited", ["searchable", "embedded", "graphed", "settled"])
async def test_a_wait_ends_when_the_state_is_reached(
    upload: Entry, process: Process, neighbours: Any, settled: Any, awaited: str
) -> None:
    assert neighbours
    document_id = (await upload())["document"]["id"]
    waiting = asyncio.create_task(settled(document_id, awaited, 300))
    await process(document_id)
    state = await asyncio.wait_for(waiting, 120)
    assert state["status"] == "searchable" or awaited == "graphed"
    if awaited in {"embedded", "settled"}:
        assert state["embedding_status"] == "complete"
    if awaited in {"graphed", "settled"}:
        assert state["stages"][-1]["status"] == "succeeded"


@pytest.mark.parametrize("awaited", ["searchable", "embedded", "graphed", "settled"])
async def test_a_wait_ends_when_the_document_fails(upload: Entry, process: Process, settled: Any, awaited: str) -> None:
    document_id = (await upload("broken-a.md"))["document"]["id"]
    await process(document_id)
    assert (await asyncio.wait_for(settled(document_id, awaited, 300), 120))["status"] == "failed"
