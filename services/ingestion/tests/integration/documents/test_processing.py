"""Processing from queued to searchable, and the ways in which it fails."""

from __future__ import annotations

import asyncio
import errno
import io
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

import httpx2
import numpy as np
import psycopg
import pytest

from contracts.events import DocumentFailed, DocumentGraphed, DocumentIndexed, EventData
from contracts.object_keys import original_key
from ingestion.conversion.errors import CorruptFile
from ingestion.documents.derived_objects import derived_keys
from ingestion.worker.embedding import BATCH
from ingestion.worker.holding import Shutdown
from service_kit.objects import ObjectStore
from service_kit.outbox import new_event

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


def stages(detail: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["status"] for stage in detail["stages"]}


async def settled(client: httpx2.AsyncClient, document_id: str, timeout: float = 120) -> dict[str, Any]:
    answer = await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": timeout})
    detail: dict[str, Any] = answer.json()
    return detail


def stage(detail: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in detail["stages"] if one["name"] == name)
    return found


async def test_a_document_becomes_searchable(
    searchable: Entry, client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID, eventually: Any
) -> None:
    detail = await searchable("notes.md", b"A title\nOne\nTwo")
    assert (detail["title"], detail["pages"], detail["chunk_count"], detail["engine"]) == ("A title", 2, 3, "lines")
    assert detail["indexed_at"]
    assert detail["explanation"] is None
    keys = derived_keys(workspace_id, UUID(detail["id"]), 1)
    vectors = np.load(io.BytesIO(object_store.get(keys.vectors)))
    assert (vectors.shape, vectors.dtype) == ((3, 4), np.float32)
    assert object_store.get(keys.markdown) == b"A title\n\nOne\n\nTwo"
    detail = await eventually(lambda: settled(client, detail["id"]), lambda now: stages(now)["graph"] == "succeeded")
    assert set(stages(detail).values()) == {"succeeded"}
    assert stage(detail, "convert")["worker"] == "test"
    assert stage(detail, "index")["worker"] == "retrieval"


async def test_a_wait_ends_when_the_document_is_searchable(
    upload: Entry, process: Process, neighbours: Any, client: httpx2.AsyncClient
) -> None:
    assert neighbours
    document_id = (await upload())["document"]["id"]
    waiting = asyncio.create_task(settled(client, document_id, 300))
    await process(document_id)
    assert (await waiting)["status"] == "searchable"


async def test_a_wait_that_times_out_returns_the_state(upload: Entry, client: httpx2.AsyncClient) -> None:
    document_id = (await upload())["document"]["id"]
    detail = await settled(client, document_id, 0.2)
    assert (detail["status"], detail["explanation"]) == ("processing", "Waiting for a worker, but none is running")


@pytest.mark.parametrize("prompt_seconds", [0.0, 900.0])
async def test_a_document_that_cannot_be_split_fails_at_chunking_however_fast(
    upload: Entry, process: Process, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, prompt_seconds: float
) -> None:
    monkeypatch.setattr("ingestion.worker.process.PROMPT_SECONDS", prompt_seconds)
    document_id = (await upload("unchunked-notes.md"))["document"]["id"]
    await process(document_id)
    detail = await settled(client, document_id)
    assert detail["status"] == "failed"
    assert (stages(detail)["convert"], stages(detail)["chunk"]) == ("succeeded", "failed")
    failed = stage(detail, "chunk")
    assert (failed["attempts"], failed["error_class"]) == (1, CorruptFile.error_class)


@pytest.mark.parametrize(("chunks", "losses", "together"), [(2, 0, True), (BATCH + 1, 0, False), (2, 1, False)])
async def test_a_short_conversion_is_recorded_together_with_its_vectors_unless_a_worker_was_lost(
    upload: Entry,
    process: Process,
    database: Any,
    monkeypatch: pytest.MonkeyPatch,
    chunks: int,
    losses: int,
    together: bool,
) -> None:
    monkeypatch.setattr("ingestion.worker.process.PROMPT_SECONDS", 3600.0)
    document_id = (await upload("a.md", b"Line\n" * chunks))["document"]["id"]
    with psycopg.connect(database.admin, autocommit=True) as connection:
        connection.execute("UPDATE ingestion.document_stage SET losses = %s WHERE name = 'convert'", (losses,))
        await process(document_id)
        rows = connection.execute(
            "SELECT name, state, xmin::text FROM ingestion.document_stage WHERE name IN ('convert', 'chunk', 'embed')"
        ).fetchall()
    assert {state for _, state, _ in rows} == {"succeeded"}
    written_by = {name: transaction for name, _, transaction in rows}
    assert written_by["convert"] == written_by["chunk"]
    assert (written_by["convert"] == written_by["embed"]) is together


async def test_a_redelivered_event_changes_nothing(searchable: Entry, process: Process, converter: Any) -> None:
    detail = await searchable()
    await process(detail["id"])
    assert len(converter.conversions) == 1


async def test_progress_is_explained_during_processing(
    upload: Entry, process: Process, converter: Any, client: httpx2.AsyncClient, eventually: Any
) -> None:
    document_id = (await upload("gate-a.md"))["document"]["id"]
    running = asyncio.create_task(process(document_id))
    detail = await eventually(lambda: settled(client, document_id, 0), lambda now: "page" in now["explanation"])
    assert detail["explanation"] == "Converting, page 1 of 2"
    assert stage(detail, "convert")["status"] == "running"
    converter.gate.set()
    await running


async def test_a_broken_file_fails_with_its_reason_and_can_be_retried(
    upload: Entry, process: Process, client: httpx2.AsyncClient
) -> None:
    document_id = (await upload("broken-a.md", b"text"))["document"]["id"]
    await process(document_id)
    detail = await settled(client, document_id, 0)
    assert (detail["status"], detail["explanation"]) == ("failed", "Failed to convert: The file is damaged.")
    assert stage(detail, "convert")["error_class"] == "corrupt-file"
    again = await client.post(f"/v1/documents/{document_id}/retry")
    assert again.status_code == 202
    assert (again.json()["status"], stages(again.json())["convert"]) == ("processing", "queued")
    assert (await client.post(f"/v1/documents/{document_id}/retry")).status_code == 409


async def test_uploading_a_failed_document_again_queues_it(upload: Entry, process: Process) -> None:
    first = await upload("broken-a.md", b"text")
    await process(first["document"]["id"])
    again = await upload("broken-a.md", b"text")
    assert not again["created"]
    assert (again["document"]["id"], again["document"]["status"]) == (first["document"]["id"], "processing")


@pytest.mark.parametrize("small_bytes", [0, 100])
async def test_uploading_a_failed_document_again_restores_its_lost_original(
    upload: Entry,
    process: Process,
    object_store: ObjectStore,
    workspace_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
    small_bytes: int,
) -> None:
    monkeypatch.setattr("ingestion.documents.original_storage.SMALL_BYTES", small_bytes)
    document = (await upload("broken-a.md", b"text"))["document"]
    await process(document["id"])
    original = original_key(workspace_id, document["content_hash"])
    object_store.delete([original])
    await upload("broken-a.md", b"text")
    assert object_store.get(original) == b"text"


async def test_a_lost_original_is_reported(
    upload: Entry, process: Process, client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID
) -> None:
    document = (await upload())["document"]
    object_store.delete([original_key(workspace_id, document["content_hash"])])
    await process(document["id"])
    detail = await settled(client, document["id"], 0)
    assert stage(detail, "convert")["error_class"] == "original-missing"
    answer = await client.get(f"/v1/documents/{document['id']}/original")
    assert (answer.status_code, answer.json()["type"]) == (404, "original-not-found")


@pytest.mark.parametrize(
    ("error", "error_class", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk-full", "the worker has no space left"),
        (MemoryError(), "out-of-memory", "the worker has no memory left"),
    ],
)
async def test_a_worker_short_of_resources_retries_with_the_reason(
    upload: Entry,
    process: Process,
    client: httpx2.AsyncClient,
    converter: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    error_class: str,
    words: str,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(converter, "convert", fail)
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    detail = await settled(client, document_id, 0)
    assert (stage(detail, "convert")["status"], stage(detail, "convert")["error_class"]) == ("queued", error_class)
    assert words in detail["explanation"].lower()


async def test_a_stopping_worker_releases_its_stage_at_once(
    upload: Entry, process: Process, client: httpx2.AsyncClient, shutdown: Shutdown, converter: Any
) -> None:
    document_id = (await upload("gate-a.md"))["document"]["id"]
    running = asyncio.create_task(process(document_id))
    assert await asyncio.to_thread(converter.started.wait, 120)
    shutdown.begin()
    await running
    detail = await settled(client, document_id, 0)
    assert stage(detail, "convert")["status"] == "queued"
    assert stage(detail, "convert")["attempts"] == 0


@pytest.mark.parametrize(
    ("service", "stage_name", "status"), [("retrieval", "index", "failed"), ("knowledge-graph", "graph", "searchable")]
)
async def test_a_failure_in_another_service_is_reported_and_retried(
    upload: Entry,
    process: Process,
    client: httpx2.AsyncClient,
    neighbours: Any,
    workspace_id: UUID,
    eventually: Any,
    service: str,
    stage_name: str,
    status: str,
) -> None:
    neighbours.silent.add(service)
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    failed = DocumentFailed(
        document_id=UUID(document_id),
        version=1,
        service=service,
        stage=stage_name,
        error_class="boom",
        error_message="It broke.",
    )
    await publish(neighbours, workspace_id, document_id, service, failed)
    detail = await eventually(lambda: settled(client, document_id, 0), lambda now: stages(now)[stage_name] == "failed")
    assert (await settled(client, document_id))["status"] == status
    assert stage(detail, stage_name)["error_message"] == "It broke."
    neighbours.silent.clear()
    assert (await client.post(f"/v1/documents/{document_id}/retry")).status_code == 202
    await eventually(lambda: settled(client, document_id, 0), lambda now: set(stages(now).values()) == {"succeeded"})


async def publish(neighbours: Any, workspace_id: UUID, document_id: str, service: str, data: EventData) -> None:
    event = new_event(service, workspace_id, data, document_id)
    await neighbours.redis.xadd(data.stream, {"event": event.model_dump_json()})


async def test_an_event_for_another_version_changes_nothing(
    upload: Entry, process: Process, client: httpx2.AsyncClient, neighbours: Any, workspace_id: UUID
) -> None:
    neighbours.silent.add("retrieval")
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    stale = DocumentIndexed(document_id=UUID(document_id), version=7, chunk_count=1, vectors=1)
    await publish(neighbours, workspace_id, document_id, "retrieval", stale)
    assert (await settled(client, document_id, 1))["status"] == "processing"


async def test_documents_that_are_confirmed_together_become_searchable_unless_deleted_or_of_another_version(
    upload: Entry, process: Process, client: httpx2.AsyncClient, neighbours: Any, workspace_id: UUID
) -> None:
    neighbours.silent |= {"retrieval", "knowledge-graph"}
    first, second, other, gone = [(await upload())["document"]["id"] for _ in range(4)]
    for document_id in (first, second, other, gone):
        await process(document_id)
    assert (await client.delete(f"/v1/documents/{gone}")).status_code in (200, 202)
    async with neighbours.redis.pipeline(transaction=True) as pipe:  # read together
        for kind, service, counts in (
            (DocumentIndexed, "retrieval", {"chunk_count": 2, "vectors": 2}),
            (DocumentGraphed, "knowledge-graph", {"entities": 1, "relations": 0}),
        ):
            for document_id, version in ((first, 1), (gone, 1), (other, 7), (second, 1)):
                data = kind(document_id=UUID(document_id), version=version, **counts)
                event = new_event(service, workspace_id, data, document_id)
                pipe.xadd(data.stream, {"event": event.model_dump_json()})
        await pipe.execute()
    for document_id in (first, second):
        detail = await settled(client, document_id)
        assert (detail["status"], detail["embedding_status"]) == ("searchable", "complete")
        wait = {"wait": "settled", "timeout": 120}
        detail = (await client.get(f"/v1/documents/{document_id}", params=wait)).json()
        assert set(stages(detail).values()) == {"succeeded"}
    assert (await settled(client, other, 1))["status"] == "processing"
    assert (await client.get(f"/v1/documents/{gone}")).status_code == 404


async def test_the_original_is_always_served_as_a_download(upload: Entry, client: httpx2.AsyncClient) -> None:
    body = b"<script>alert(1)</script>" * 100_00
    document = (await upload('x"; filename=y.html é.html', body))["document"]
    answer = await client.get(f"/v1/documents/{document['id']}/original")
    assert answer.content == body
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_list_is_paged_and_filtered(upload: Entry, process: Process, client: httpx2.AsyncClient) -> None:
    for index in range(5):
        await upload(f"note {index}.md")
    await upload("100%_done.txt", b"plain")
    await process((await upload("broken-x.md"))["document"]["id"])
    names, cursor = [], None
    while True:
        params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/documents", params=params)).json()
        names += [one["name"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert names == ["broken-x.md", "100%_done.txt", *(f"note {index}.md" for index in reversed(range(5)))]

    async def found(**params: str) -> list[str]:
        return [one["name"] for one in (await client.get("/v1/documents", params=params)).json()["items"]]

    assert await found(name="%_D") == ["100%_done.txt"]
    assert await found(name="a_b") == []
    assert await found(status="failed") == ["broken-x.md"]
    assert await found(media_type="text/plain") == ["100%_done.txt"]
    for bad in ({"status": "x"}, {"limit": "0"}, {"cursor": "x"}, {"name": "\x00"}):
        assert (await client.get("/v1/documents", params=bad)).status_code == 422
    assert (await client.get("/v1/documents/not-an-id")).status_code == 422


async def test_the_original_is_read_in_parts_and_once_only(upload: Entry, client: httpx2.AsyncClient) -> None:
    content = bytes(range(256)) * 2_000
    document = (await upload("a.pdf", b"%PDF-1.4\n" + content))["document"]
    path = f"/v1/documents/{document['id']}/original"
    whole = await client.get(path)
    assert (whole.headers["accept-ranges"], whole.headers["cache-control"]) == ("bytes", "private, no-cache")
    part = await client.get(path, headers={"Range": "bytes=300000-300999", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, whole.content[300_000:301_000])
    assert part.headers["content-range"] == f"bytes 300000-300999/{len(whole.content)}"
    assert (await client.get(path, headers={"Range": "bytes=-5"})).content == whole.content[-5:]
    refused = await client.get(path, headers={"Range": f"bytes={len(whole.content)}-"})
    assert (refused.status_code, refused.json()["type"]) == (416, "range-not-satisfiable")
    known = await client.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", whole.headers["etag"])
