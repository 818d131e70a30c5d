"""Embedding: documents whose embedding fails are found lexically; unchanged chunks are not embedded again."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import numpy as np
import psycopg
import pytest

from contracts.events import DocumentConverted, EmbeddingSpaceActivated
from inference.errors import ContextTooLong, ProviderRejected, ProviderUnavailable
from ingestion.documents.derived_objects import derived_keys
from service_kit.objects import ObjectStore
from service_kit.outbox import new_event

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


def stage(detail: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in detail["stages"] if one["name"] == name)
    return found


def converted_events(neighbours: Any) -> list[DocumentConverted]:
    return [
        DocumentConverted.model_validate(event.data)
        for group, event in neighbours.seen
        if group == "retrieval" and event.type == DocumentConverted.event_type
    ]


@pytest.fixture
def hasten(database: Any, late_retries: None) -> Callable[[], Awaitable[None]]:  # noqa: ARG001
    """`await hasten()` makes postponed stages due."""

    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(database.admin) as connection:
            await connection.execute("UPDATE ingestion.document_stage SET available_at = now()")

    return run


@pytest.fixture
def settled(client: httpx2.AsyncClient) -> Callable[[str], Awaitable[dict[str, Any]]]:
    async def wait(document_id: str) -> dict[str, Any]:
        answer = await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": 120})
        detail: dict[str, Any] = answer.json()
        return detail

    return wait


async def test_a_document_is_lexically_searchable_when_the_provider_fails(
    upload: Entry,
    process: Process,
    settled: Detail,
    detail: Detail,
    eventually: Any,
    hasten: Callable[[], Awaitable[None]],
    embedder: Any,
    converter: Any,
    neighbours: Any,
) -> None:
    embedder.failures += [ProviderUnavailable("no answer"), ProviderRejected("no such key", status=401)]
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    state = await settled(document_id)
    assert (state["status"], state["embedding_status"]) == ("searchable", "failed")
    assert (stage(state, "embed")["status"], stage(state, "embed")["error_class"]) == (
        "queued",
        "embedding-unavailable",
    )
    assert stage(state, "embed")["next_attempt_at"]
    await process(document_id)  # not due yet, so nothing happens
    assert len(embedder.failures) == 1
    await hasten()
    await process(document_id)
    state = await detail(document_id)
    assert (state["status"], stage(state, "embed")["error_class"]) == ("searchable", "embedding-failed")
    assert [one.vectors_key for one in converted_events(neighbours)] == [None]  # published only once

    await hasten()
    await process(document_id)
    state = await eventually(lambda: detail(document_id), lambda now: now["embedding_status"] == "complete")
    assert state["status"] == "searchable"
    assert {one["status"] for one in state["stages"]} == {"succeeded"}
    assert [(one.vectors_key is None, one.embedding_model) for one in converted_events(neighbours)] == [
        (True, None),
        (False, "constant"),
    ]
    assert len(converter.conversions) == 1


async def test_embedding_is_retried_a_limited_number_of_times(
    upload: Entry,
    process: Process,
    settled: Detail,
    detail: Detail,
    hasten: Callable[[], Awaitable[None]],
    embedder: Any,
    neighbours: Any,
) -> None:
    assert neighbours
    embedder.failures += [ProviderUnavailable("no answer")] * 3
    document_id = (await upload())["document"]["id"]
    for _ in range(3):
        await process(document_id)
        await hasten()
    state = await settled(document_id)
    assert (state["status"], state["embedding_status"]) == ("searchable", "failed")
    assert stage(state, "embed")["status"] == "failed"
    assert "tried 3 times" in stage(state, "embed")["error_message"]

    embedder.failures.append(ContextTooLong("512 tokens", status=400))
    other = (await upload())["document"]["id"]
    await process(other)
    assert stage(await settled(other), "embed")["error_class"] == "embedding-text-too-long"
    assert stage(await detail(other), "embed")["status"] == "failed"


async def test_a_retry_recreates_missing_chunks(
    upload: Entry,
    process: Process,
    detail: Detail,
    client: httpx2.AsyncClient,
    settled: Detail,
    neighbours: Any,
    hasten: Callable[[], Awaitable[None]],
    embedder: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
) -> None:
    embedder.failures.append(ProviderUnavailable("no answer"))
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    object_store.delete([derived_keys(workspace_id, UUID(document_id), 1).chunks])
    await hasten()
    await process(document_id)
    embed = stage(await detail(document_id), "embed")
    assert (embed["status"], embed["error_class"]) == ("failed", "chunks-missing")

    assert neighbours
    assert (await client.post(f"/v1/documents/{document_id}/retry")).status_code == 202
    await process(document_id)
    state = await settled(document_id)
    assert {stage(state, name)["status"] for name in ("convert", "chunk", "embed")} == {"succeeded"}


async def test_documents_are_embedded_with_the_model_of_their_workspace(
    upload: Entry,
    process: Process,
    settled: Detail,
    neighbours: Any,
    workspace_id: UUID,
    eventually: Any,
    database: Any,
) -> None:
    async def chosen() -> list[tuple[str, int]]:
        with psycopg.connect(database.admin) as connection:
            return connection.execute("SELECT model, dims FROM ingestion.workspace_embedding").fetchall()

    later = new_event("retrieval", workspace_id, EmbeddingSpaceActivated(model="large", dims=9), "large")
    earlier = new_event("retrieval", workspace_id, EmbeddingSpaceActivated(model="old", dims=8), "old")
    earlier = earlier.model_copy(update={"time": datetime(2020, 1, 1, tzinfo=UTC)})
    for event in (later, earlier):
        await neighbours.redis.xadd(EmbeddingSpaceActivated.stream, {"event": event.model_dump_json()})
    assert await eventually(chosen) == [("large", 9)]

    document_id = (await upload())["document"]["id"]
    await process(document_id)
    state = await settled(document_id)
    assert (state["status"], state["embedding_status"]) == ("searchable", "failed")
    assert (stage(state, "embed")["status"], stage(state, "embed")["error_class"]) == (
        "failed",
        "embedding-model-unknown",
    )
    assert "large (9 dimensions)" in stage(state, "embed")["error_message"]


async def test_only_changed_chunks_are_embedded_again(
    client: httpx2.AsyncClient,
    process: Process,
    settled: Detail,
    embedder: Any,
    neighbours: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
) -> None:
    assert neighbours

    async def send(text: bytes) -> str:
        answer = await client.post("/v1/documents", params={"key": "notes"}, files=[("files", ("notes.md", text))])
        return str(answer.json()["files"][0]["document"]["id"])

    document_id = await send(b"A title\nOne\nTwo")
    await process(document_id)
    await settled(document_id)
    keys = derived_keys(workspace_id, UUID(document_id), 1)
    vectors = np.arange(12, dtype=np.float32).reshape(3, 4)
    buffer = io.BytesIO()
    np.save(buffer, vectors)
    object_store.put(keys.vectors, buffer.getvalue())
    embedder.embedded.clear()

    assert await send(b"Two\nThree\nA title") == document_id
    await process(document_id)
    state = await settled(document_id)
    assert (state["version"], state["status"]) == (2, "searchable")
    assert embedder.embedded == ["Three"]
    stored = np.load(io.BytesIO(object_store.get(derived_keys(workspace_id, UUID(document_id), 2).vectors)))
    assert stored.tolist() == [vectors[2].tolist(), [1.0] * 4, vectors[0].tolist()]
