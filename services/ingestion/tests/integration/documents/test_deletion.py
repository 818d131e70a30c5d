"""Deletions are proved: everything is gone, and each service has confirmed it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest

from contracts.object_keys import derived_prefix, original_key
from ingestion.app import create_app
from ingestion.settings import Settings
from service_kit.auth import ServiceCaller
from service_kit.objects import ObjectStore
from service_kit.owners import DOCUMENTS_PATH

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"reannounce_after_seconds": 1.0})


async def test_a_deletion_removes_everything_and_every_service_confirms(
    searchable: Entry, client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID, database: Any
) -> None:
    document = await searchable("secret-name.md", b"Secret title\nsecret text")
    answer = await client.delete(f"/v1/documents/{document['id']}", params={"timeout": 120})
    assert answer.status_code == 200
    receipt = answer.json()
    assert receipt["pending"] == []
    assert receipt["completed_at"]
    counts = {one["service"]: (one["removed"], one["remaining"]) for one in receipt["services"]}
    assert counts["ingestion"] == (
        {"documents": 1, "versions": 1, "stages": 6, "originals": 1, "derived_objects": 3},
        {"documents": 0, "versions": 0, "stages": 0, "originals": 0, "derived_objects": 0},
    )
    assert set(counts) == {"ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator"}
    assert object_store.keys(str(workspace_id)) == []
    assert (await client.get(f"/v1/documents/{document['id']}")).status_code == 404
    assert (await client.get("/v1/documents")).json()["items"] == []
    assert (await client.get(f"/v1/documents/{document['id']}/receipt")).json() == receipt
    with psycopg.connect(database.admin) as connection:
        for table in (
            "document",
            "document_version",
            "document_stage",
            "origin",
            "deletion",
            "deletion_receipt",
            "outbox",
        ):
            rows = connection.execute(f"SELECT row_to_json(t)::text FROM ingestion.{table} t").fetchall()
            assert not any("ecret" in row[0] for row in rows), table


async def test_only_services_can_ask_which_documents_are_deleted(
    searchable: Entry,
    client: httpx2.AsyncClient,
    workspace_id: UUID,
    token_keys: Any,
    database: Any,
) -> None:
    """Services ask before they erase a document, also after the receipt and after the workspace is deleted."""
    gone, living = await searchable("gone.md", b"Title\none"), await searchable("here.md", b"Title\ntwo")
    deletion = await client.delete(f"/v1/documents/{gone['id']}", params={"timeout": 120})
    assert deletion.json()["completed_at"]
    unknown = str(uuid4())
    body = {"document_ids": [gone["id"], living["id"], unknown]}

    async def deleted(name: str = "memory") -> httpx2.Response:
        token = token_keys.tokens(name).sign(ServiceCaller(name, workspace_id), "ingestion")
        return await client.post(DOCUMENTS_PATH, json=body, headers={"Authorization": f"Bearer {token}"})

    for name in ("retrieval", "knowledge-graph", "memory", "orchestrator"):
        assert (await deleted(name)).json() == {"deleted": [gone["id"]]}
    assert (await client.post(DOCUMENTS_PATH, json=body)).status_code == 403
    with psycopg.connect(database.admin) as connection:
        connection.execute("INSERT INTO ingestion.deleted_workspace (workspace_id) VALUES (%s)", (workspace_id,))
    assert set((await deleted()).json()["deleted"]) == {gone["id"], living["id"], unknown}


async def test_a_pending_deletion_names_the_missing_services(
    searchable: Entry, client: httpx2.AsyncClient, neighbours: Any, eventually: Any
) -> None:
    document = await searchable()
    path = f"/v1/documents/{document['id']}"
    neighbours.silent.add("memory")
    answer = await client.delete(path, params={"timeout": 0.1})
    assert (answer.status_code, "memory" in answer.json()["pending"]) == (202, True)

    async def pending() -> list[str]:
        receipt = (await client.get(f"{path}/receipt")).json()
        return list(receipt["pending"])

    await eventually(pending, lambda missing: missing == ["memory"])
    neighbours.silent.clear()
    # The consumer has nothing left to read, so the deletion is republished.
    again = await client.delete(path, params={"timeout": 120})
    assert again.status_code == 200
    assert {one["service"] for one in again.json()["services"]} >= {"memory"}


async def test_an_existing_document_has_no_receipt(client: httpx2.AsyncClient, upload: Entry) -> None:
    document_id = (await upload())["document"]["id"]
    assert (await client.get(f"/v1/documents/{document_id}/receipt")).status_code == 404
    assert (await client.delete(f"/v1/documents/{uuid4()}")).status_code == 404


@pytest.mark.parametrize("small_bytes", [0, 100])
async def test_the_same_bytes_after_a_deletion_are_a_new_document(
    upload: Entry,
    client: httpx2.AsyncClient,
    object_store: ObjectStore,
    workspace_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
    small_bytes: int,
) -> None:
    monkeypatch.setattr("ingestion.documents.original_storage.SMALL_BYTES", small_bytes)
    first = (await upload("a.md", b"again and again"))["document"]
    for _ in range(5):
        await client.delete(f"/v1/documents/{first['id']}", params={"timeout": 0})
        second = await upload("a.md", b"again and again")
        assert second["created"]
        assert second["document"]["id"] != first["id"]
        first = second["document"]
    await asyncio.sleep(1)
    assert object_store.get(original_key(workspace_id, first["content_hash"])) == b"again and again"


async def test_a_deletion_stops_a_running_conversion(
    upload: Entry,
    process: Process,
    converter: Any,
    client: httpx2.AsyncClient,
    neighbours: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
) -> None:
    document_id = (await upload("gate-a.md"))["document"]["id"]
    running = asyncio.create_task(process(document_id))
    assert await asyncio.to_thread(converter.started.wait, 120)
    answer = await client.delete(f"/v1/documents/{document_id}", params={"timeout": 120})
    assert answer.status_code == 200, answer.text
    await running
    assert object_store.keys(str(workspace_id)) == []
    assert not [event for _, event in neighbours.seen if event.type.startswith("document.converted")]


async def test_objects_written_too_late_by_a_worker_are_deleted(
    upload: Entry,
    process: Process,
    processor: Any,
    client: httpx2.AsyncClient,
    neighbours: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert neighbours
    document_id = (await upload())["document"]["id"]
    loop, store = asyncio.get_running_loop(), processor._store

    def deleted_while_storing(*arguments: Any) -> None:
        request = client.delete(f"/v1/documents/{document_id}", params={"timeout": 0})
        asyncio.run_coroutine_threadsafe(request, loop).result(120)
        store(*arguments)
        assert object_store.keys(derived_prefix(workspace_id, UUID(document_id)))

    monkeypatch.setattr(processor, "_store", deleted_while_storing)
    await process(document_id)
    answer = await client.delete(f"/v1/documents/{document_id}", params={"timeout": 120})
    assert answer.status_code == 200
    assert object_store.keys(str(workspace_id)) == []


async def test_a_deletion_is_resumed_after_a_crash(
    settings: Settings,
    running: Any,
    auth_headers: Callable[..., dict[str, str]],
    object_store: ObjectStore,
    workspace_id: UUID,
    eventually: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = auth_headers()

    async def crash(_: Any) -> None:
        raise ConnectionError("as if the process had died here")

    with monkeypatch.context() as patch:
        patch.setattr("ingestion.documents.deletion_job.DeletionJob.delete_due", crash)
        async with running(create_app(settings)) as client:
            answer = await client.post("/v1/documents", files=[("files", ("a.md", b"text"))], headers=headers)
            document_id = answer.json()["files"][0]["document"]["id"]
            answer = await client.delete(f"/v1/documents/{document_id}", params={"timeout": 0.5}, headers=headers)
            assert "ingestion" in answer.json()["pending"]
    assert object_store.keys(str(workspace_id))
    async with running(create_app(settings)) as client:

        async def pending() -> Any:
            return (await client.get(f"/v1/documents/{document_id}/receipt", headers=headers)).json()["pending"]

        await eventually(pending, lambda services: "ingestion" not in services)
    assert object_store.keys(str(workspace_id)) == []
