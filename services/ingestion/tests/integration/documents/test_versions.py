"""A new version replaces the old one only when search serves it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

import httpx2
import pytest

from contracts.events import DocumentIndexed
from contracts.object_keys import derived_prefix, original_key
from ingestion.documents.derived_objects import derived_keys
from service_kit.objects import ObjectStore
from service_kit.outbox import new_event

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


def stages(detail: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["status"] for stage in detail["stages"]}


@pytest.fixture
def upload_key(client: httpx2.AsyncClient) -> Entry:
    """`await upload_key("key", "a.md", b"text")` uploads one file under a key and returns its entry."""

    async def send(key: str, name: str, content: bytes, **parameters: str) -> dict[str, Any]:
        answer = await client.post(
            "/v1/documents", files=[("files", (name, content))], params={"key": key, **parameters}
        )
        assert answer.status_code == 202, answer.text
        entry: dict[str, Any] = answer.json()["files"][0]
        return entry

    return send


async def test_the_same_key_with_different_bytes_is_a_new_version(
    upload_key: Entry,
    process: Process,
    neighbours: Any,
    settled: Any,
    client: httpx2.AsyncClient,
    object_store: ObjectStore,
    workspace_id: UUID,
    eventually: Any,
) -> None:
    assert neighbours
    first = (await upload_key("entry 7", "plan.md", b"Plan one\nold", source_type="artifact"))["document"]
    assert (first["source_type"], first["source_path"]) == ("artifact", "entry 7")
    await process(first["id"])
    assert (await settled(first["id"], "settled"))["searchable_version"] == 1

    entry = await upload_key("entry 7", "plan.md", b"Plan two\nnew\nmore", source_type="artifact")
    assert (entry["created"], entry["new_version"], entry["document"]["id"]) == (False, True, first["id"])
    detail = (await client.get(f"/v1/documents/{first['id']}")).json()
    assert (detail["status"], detail["version"], detail["searchable_version"]) == ("processing", 2, 1)
    assert detail["title"] == "Plan one"  # until the new version is converted
    assert detail["explanation"].endswith("; version 1 remains searchable")
    chunks = (await client.get(f"/v1/documents/{first['id']}/chunks")).json()["items"]
    assert [chunk["content"] for chunk in chunks] == ["Plan one", "old"]

    await process(first["id"])
    detail = await settled(first["id"], "settled")
    assert (detail["status"], detail["searchable_version"], detail["title"]) == ("searchable", 2, "Plan two")
    assert detail["explanation"] is None
    chunks = (await client.get(f"/v1/documents/{first['id']}/chunks")).json()["items"]
    assert [chunk["content"] for chunk in chunks] == ["Plan two", "new", "more"]

    async def history() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await client.get(f"/v1/documents/{first['id']}/versions")).json()["items"]
        return found

    # Until it is done, the embedding of the new version copies vectors of the previous one.
    versions = await eventually(history, lambda found: found[1]["superseded_at"])
    assert [(one["version"], one["title"], one["chunk_count"]) for one in versions] == [
        (2, "Plan two", 3),
        (1, "Plan one", 2),
    ]
    old = derived_keys(workspace_id, UUID(first["id"]), 1).prefix
    await eventually(lambda: asyncio.to_thread(object_store.keys, old), lambda keys: keys == [])
    assert not object_store.exists(original_key(workspace_id, first["content_hash"]))
    assert object_store.exists(original_key(workspace_id, detail["content_hash"]))


async def test_a_failed_version_keeps_the_previous_one_searchable(
    searchable: Entry, client: httpx2.AsyncClient, process: Process, settled: Any
) -> None:
    document = await searchable("plan.md", b"Plan\ntext")
    answer = await client.put(f"/v1/documents/{document['id']}", files=[("file", ("broken-plan.md", b"new"))])
    assert answer.status_code == 202, answer.text
    await process(document["id"])
    detail = await settled(document["id"])
    assert (detail["status"], detail["version"], detail["searchable_version"]) == ("failed", 2, 1)
    assert detail["explanation"] == "Failed to convert: The file is damaged; version 1 remains searchable"
    assert (await client.get(f"/v1/documents/{document['id']}/markdown")).text == "Plan\n\ntext"
    again = await client.put(f"/v1/documents/{document['id']}", files=[("file", ("plan.md", b"Plan three"))])
    await process(document["id"])
    detail = await settled(document["id"])
    assert (again.json()["document"]["version"], detail["searchable_version"]) == (3, 3)


async def test_a_replacement_must_be_one_file_with_new_content(
    upload: Entry, client: httpx2.AsyncClient, folder: Any
) -> None:
    document = (await upload("a.md", b"first"))["document"]
    other = (await upload("b.md", b"second"))["document"]
    path = f"/v1/documents/{document['id']}"

    async def put(*contents: bytes, headers: dict[str, str] | None = None, path: str = path) -> tuple[int, str]:
        files = [("file", ("a.md", content)) for content in contents]
        answer = await client.put(path, files=files, headers=headers)
        body = answer.json()
        return answer.status_code, body.get("type") or ("new" if body["new_version"] else "same")

    assert await put(b"first") == (202, "same")
    assert await put(b"second") == (409, "content-exists")
    assert await put(b"") == (422, "nothing-accepted")
    assert await put(b"third", headers={"If-Match": '"2"'}) == (412, "stale-version")
    assert await put(b"third", headers={"If-Match": '"1"'}) == (202, "new")
    assert (await client.put(path, files=[("file", ("a.md", b"4")), ("file", ("b.md", b"5"))])).status_code == 413
    taken = await folder.take("c.md", b"from a folder")
    assert await put(b"x", path=f"/v1/documents/{taken.document.id}") == (409, "comes-from-source")
    assert await put(b"x", path=f"/v1/documents/{UUID(int=7)}") == (404, "document-not-found")
    # No document has the first bytes any longer, so they are a new document, not a change back.
    again = await upload("a.md", b"first")
    assert again["created"]
    assert again["document"]["id"] not in {document["id"], other["id"]}


async def test_a_document_key_applies_to_a_single_file(client: httpx2.AsyncClient) -> None:
    files = [("files", ("a.md", b"one")), ("files", ("b.md", b"two"))]
    answer = await client.post("/v1/documents", files=files, params={"key": "k"})
    assert [one["error"] for one in answer.json()["files"]] == [None, "one-file-per-key"]
    answer = await client.post("/v1/documents", files=files[:1], params={"key": "sha256:0"})
    assert (answer.status_code, answer.json()["type"]) == (422, "bad-key")


async def test_a_new_version_takes_over_the_document_from_a_worker(
    upload_key: Entry, process: Process, converter: Any, neighbours: Any, settled: Any, detail: Detail
) -> None:
    document_id = (await upload_key("k", "gate-a.md", b"old text"))["document"]["id"]
    running = asyncio.create_task(process(document_id))
    assert await asyncio.to_thread(converter.started.wait, 120)
    entry = await upload_key("k", "a.md", b"new text")
    assert entry["new_version"]
    converter.gate.set()
    await running
    assert stages(await detail(document_id))["convert"] == "queued"
    await process(document_id)
    state = await settled(document_id)
    assert (state["status"], state["searchable_version"], state["title"]) == ("searchable", 2, "new text")
    told = [event.data["version"] for group, event in neighbours.seen if group == "retrieval"]
    assert told == [2]


async def test_events_of_an_older_version_update_only_the_searchable_version(
    upload_key: Entry, process: Process, neighbours: Any, detail: Detail, eventually: Any, workspace_id: UUID
) -> None:
    neighbours.silent |= {"retrieval", "knowledge-graph"}
    document_id = (await upload_key("k", "a.md", b"old text"))["document"]["id"]
    await process(document_id)
    await upload_key("k", "a.md", b"new text")
    for version in (7, 1):
        late = DocumentIndexed(document_id=UUID(document_id), version=version, chunk_count=1, vectors=1)
        event = new_event("retrieval", workspace_id, late, document_id)
        await neighbours.redis.xadd(late.stream, {"event": event.model_dump_json()})
    state = await eventually(lambda: detail(document_id), lambda now: now["searchable_version"])
    assert (state["status"], state["version"], state["searchable_version"]) == ("processing", 2, 1)
    assert state["embedding_status"] == "pending"
    assert stages(state)["index"] == "waiting"


async def test_restored_content_keeps_its_original(
    upload_key: Entry,
    process: Process,
    neighbours: Any,
    settled: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
    eventually: Any,
) -> None:
    assert neighbours
    contents = [b"text a", b"text b", b"text a"]
    for content in contents:
        document = (await upload_key("k", "a.md", content))["document"]
        await process(document["id"])
        await settled(document["id"], "settled")
    prefix = derived_prefix(workspace_id, UUID(document["id"]))
    keys = await eventually(
        lambda: asyncio.to_thread(object_store.keys, prefix), lambda keys: all("/v3/" in key for key in keys)
    )
    assert len(keys) == 3
    originals = object_store.keys(f"{workspace_id}/originals/")
    assert originals == [original_key(workspace_id, document["content_hash"])]
