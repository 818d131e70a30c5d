"""Cancelling and retrying one document, or all that match a filter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from inference.errors import ProviderUnavailable

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


def stages(detail: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["status"] for stage in detail["stages"]}


async def test_a_queued_document_is_cancelled_and_retried(
    upload: Entry, process: Process, client: httpx2.AsyncClient, converter: Any, neighbours: Any, settled: Any
) -> None:
    assert neighbours
    document_id = (await upload())["document"]["id"]
    answer = await client.post(f"/v1/documents/{document_id}/cancel")
    assert answer.status_code == 200
    assert (answer.json()["status"], stages(answer.json())["convert"]) == ("cancelled", "cancelled")
    assert answer.json()["explanation"] == "Cancelled before it was converted"
    await process(document_id)
    assert converter.conversions == []
    answer = await client.post(f"/v1/documents/{document_id}/cancel")
    assert (answer.status_code, answer.json()["type"]) == (409, "nothing-to-cancel")
    assert (await client.post(f"/v1/documents/{document_id}/retry")).json()["status"] == "processing"
    await process(document_id)
    assert (await settled(document_id))["status"] == "searchable"
    assert (await client.post(f"/v1/documents/{document_id}/cancel")).status_code == 409
    assert (await client.post(f"/v1/documents/{document_id}/retry")).status_code == 409
    for action in ("cancel", "retry"):
        assert (await client.post(f"/v1/documents/{uuid4()}/{action}")).status_code == 404


async def test_a_running_conversion_is_cancelled(
    upload: Entry, process: Process, client: httpx2.AsyncClient, converter: Any, neighbours: Any, detail: Detail
) -> None:
    document_id = (await upload("gate-a.md"))["document"]["id"]
    running = asyncio.create_task(process(document_id))
    assert await asyncio.to_thread(converter.started.wait, 120)
    assert (await client.post(f"/v1/documents/{document_id}/cancel")).status_code == 200
    await asyncio.wait_for(running, 120)  # ends although the converter would continue
    state = await detail(document_id)
    assert (state["status"], stages(state)["convert"], stages(state)["embed"]) == ("cancelled", "cancelled", "waiting")
    assert not neighbours.seen


async def test_cancelling_keeps_the_searchable_version(
    searchable: Entry, client: httpx2.AsyncClient, process: Process, settled: Any
) -> None:
    document = await searchable("a.md", b"First\ntext")
    path = f"/v1/documents/{document['id']}"
    await client.put(path, files=[("file", ("a.md", b"Second\ntext"))])
    state = (await client.post(f"{path}/cancel")).json()
    assert (state["status"], state["version"], state["searchable_version"]) == ("cancelled", 2, 1)
    assert state["explanation"] == "Cancelled before it was converted; version 1 remains searchable"
    # Sending the same bytes again retries the document.
    await client.put(path, files=[("file", ("a.md", b"Second\ntext"))])
    await process(document["id"])
    assert (await settled(document["id"]))["searchable_version"] == 2


async def test_a_cancelled_embedding_leaves_a_searchable_document(
    upload: Entry, process: Process, client: httpx2.AsyncClient, embedder: Any, neighbours: Any, settled: Any
) -> None:
    assert neighbours
    embedder.failures.append(ProviderUnavailable("no answer"))
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    state = await settled(document_id)
    assert (state["status"], state["embedding_status"], stages(state)["embed"]) == ("searchable", "failed", "queued")
    state = (await client.post(f"/v1/documents/{document_id}/cancel")).json()
    assert (state["status"], state["embedding_status"], stages(state)["embed"]) == ("searchable", "failed", "cancelled")
    assert state["explanation"] == "Searchable by words only: cancelled before it was embedded"
    state = (await client.post(f"/v1/documents/{document_id}/retry")).json()
    assert (state["status"], state["embedding_status"]) == ("searchable", "pending")
    await process(document_id)
    state = await settled(document_id, "embedded")
    assert (state["embedding_status"], state["explanation"]) == ("complete", None)


@pytest.mark.usefixtures("late_retries")
async def test_a_retry_makes_a_postponed_embedding_due_immediately(
    upload: Entry, process: Process, client: httpx2.AsyncClient, embedder: Any, neighbours: Any, settled: Any
) -> None:
    assert neighbours
    embedder.failures.append(ProviderUnavailable("no answer"))
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    state = await settled(document_id)
    assert "waiting for the next attempt at" in state["explanation"]
    assert [one["next_attempt_at"] for one in state["stages"] if one["name"] == "embed"] != [None]
    assert (await client.post(f"/v1/documents/{document_id}/retry")).status_code == 202
    await process(document_id)
    assert (await settled(document_id, "embedded"))["embedding_status"] == "complete"


async def test_cancel_and_retry_select_documents_by_filter(
    upload: Entry, process: Process, client: httpx2.AsyncClient, detail: Detail, folder: Any
) -> None:
    broken = [(await upload(f"broken-{index}.md"))["document"]["id"] for index in range(3)]
    for document_id in broken:
        await process(document_id)
    waiting = (await upload("waiting.md"))["document"]["id"]
    taken = await folder.take("a.md", b"of a source")

    async def act(action: str, **chosen: Any) -> dict[str, int]:
        answer = await client.post(f"/v1/documents/{action}", json=chosen)
        assert answer.status_code in {200, 202}, answer.text
        result: dict[str, int] = answer.json()
        return result

    assert await act("retry", error_class="nothing") == {"done": 0, "passed_over": 0}
    assert await act("retry", document_ids=[broken[0], waiting]) == {"done": 1, "passed_over": 1}
    assert await act("retry", status="failed", error_class="corrupt-file") == {"done": 2, "passed_over": 0}
    assert {stage["lane"] for stage in (await detail(broken[1]))["stages"] if stage["name"] == "convert"} == {"bulk"}
    assert await act("cancel", source_id=str(folder.source_id)) == {"done": 1, "passed_over": 0}
    assert (await detail(str(taken.document.id)))["status"] == "cancelled"
    assert await act("cancel", status="processing") == {"done": 4, "passed_over": 0}
    assert await act("retry", status="cancelled") == {"done": 5, "passed_over": 0}
    for action in ("retry", "cancel"):
        assert (await client.post(f"/v1/documents/{action}", json={})).status_code == 422


async def test_a_filter_is_applied_in_batches(
    upload: Entry, client: httpx2.AsyncClient, monkeypatch: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    monkeypatch.setattr("ingestion.documents.actions.BATCH", 3)
    for _ in range(8):
        await upload()
    theirs = auth_headers(workspace_id=UUID(int=5))
    await upload(headers=theirs)
    everything = {"status": "processing"}
    assert (await client.post("/v1/documents/cancel", json=everything)).json() == {"done": 8, "passed_over": 0}
    assert (await client.post("/v1/documents/cancel", json=everything, headers=theirs)).json()["done"] == 1
