"""Deleted sources and workspaces leave nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import uuid4

import httpx2
import psycopg
import pytest

from contracts.object_keys import derived_prefix
from contracts.registry import CONFIRM_DOCUMENT_DELETION
from contracts.sources import SourceDeletion
from ingestion.documents.catalog import Catalogs
from ingestion.documents.deletion_job import DeletionJob, delete_workspace_objects
from ingestion.documents.deletions import Confirmation, Deletions
from ingestion.documents.errors import ReceiptNotFound
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


@pytest.fixture
def delete_source(open_database: Database) -> Callable[..., Awaitable[bool]]:
    async def run(folder: Any) -> bool:
        async with Catalogs(open_database, Outbox("ingestion")).open(folder.workspace_id) as catalog:
            return await catalog.delete_source(folder.source_id)

    return run


@pytest.fixture
def source_receipt(open_database: Database) -> Callable[..., Awaitable[SourceDeletion]]:
    async def read(folder: Any) -> SourceDeletion:
        async with open_database.workspace(folder.workspace_id) as connection:
            return await Deletions(connection, folder.workspace_id).source_receipt(folder.source_id)

    return read


async def test_deleting_a_source_keeps_documents_with_other_origins(
    folder: Any,
    make_folder: Any,
    process: Process,
    settled: Any,
    neighbours: Any,
    client: httpx2.AsyncClient,
    object_store: ObjectStore,
    delete_source: Any,
    source_receipt: Any,
    eventually: Any,
) -> None:
    assert neighbours
    other = make_folder("other")
    alone = [await folder.take(f"{index}.md", b"alone %d" % index) for index in range(3)]
    shared = await folder.take("shared.md", b"shared")
    await other.take("copy.md", b"shared")
    for taken in (alone[0], shared):
        await process(str(taken.document.id))
        await settled(taken.document.id)
    with pytest.raises(ReceiptNotFound):
        await source_receipt(folder)
    assert await delete_source(folder)
    assert await delete_source(folder)  # the second time changes nothing
    left = (await client.get("/v1/documents")).json()["items"]
    assert [(one["id"], one["name"], one["source_name"]) for one in left] == [
        (str(shared.document.id), "copy.md", "other")
    ]
    receipt = await eventually(lambda: source_receipt(folder), lambda now: now.completed_at)
    assert (receipt.documents, receipt.pending_documents) == (3, 0)
    counts = {one.service: (one.removed, one.remaining) for one in receipt.services}
    assert set(counts) == {"ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator"}
    assert counts["ingestion"][0] == {
        "documents": 3,
        "versions": 3,
        "stages": 18,
        "originals": 3,
        "derived_objects": 3,
    }
    assert all(not any(remaining.values()) for _, remaining in counts.values())
    assert counts["retrieval"][0] == {"rows": 6}
    assert len(object_store.keys(f"{folder.workspace_id}/originals/")) == 1


async def test_deleting_an_empty_source_is_complete_at_once(
    folder: Any, make_folder: Any, delete_source: Any, source_receipt: Any, client: httpx2.AsyncClient
) -> None:
    assert client
    assert await delete_source(folder)
    receipt = await source_receipt(folder)
    assert (receipt.documents, receipt.completed_at) == (0, receipt.requested_at)
    unknown = make_folder()
    unknown.source_id = uuid4()
    assert not await delete_source(unknown)


async def test_receipts_add_up_what_services_confirm_together_and_earlier(
    folder: Any, delete_source: Any, source_receipt: Any, open_database: Database
) -> None:
    documents = [(await folder.take(f"{index}.md", b"text %d" % index)).document.id for index in range(3)]
    assert await delete_source(folder)

    async def confirm(*confirmations: tuple[Any, str, int, int]) -> None:
        async with open_database.workspace(folder.workspace_id) as connection:
            await Deletions(connection, folder.workspace_id).confirm(
                [
                    Confirmation(one, service, {"rows": rows}, {"rows": left})
                    for one, service, rows, left in confirmations
                ]
            )

    others = [one for one in CONFIRM_DOCUMENT_DELETION if one != "retrieval"]
    await confirm((documents[0], "retrieval", 5, 1), (uuid4(), "retrieval", 100, 100))
    assert (await source_receipt(folder)).pending_documents == 3
    await confirm(
        *((one, service, 1, 0) for one in documents[:2] for service in others),
        (documents[0], "retrieval", 2, 1),
        (documents[0], "retrieval", 3, 0),
        (documents[1], "retrieval", 7, 0),
        (documents[2], "retrieval", 11, 4),
    )
    receipt = await source_receipt(folder)
    assert (receipt.documents, receipt.pending_documents, receipt.completed_at) == (3, 1, None)
    counts = {one.service: (one.removed["rows"], one.remaining["rows"]) for one in receipt.services}
    assert counts == {"retrieval": (28, 4)} | dict.fromkeys(others, (2, 0))


async def test_only_a_complete_deletion_wakes_who_waits_for_its_receipt(
    folder: Any, delete_source: Any, open_database: Database, database: Any
) -> None:
    document_id = (await folder.take("a.md", b"text")).document.id
    async with await psycopg.AsyncConnection.connect(database.admin, autocommit=True) as connection:
        await connection.execute("LISTEN ingestion_document")
        assert await delete_source(folder)
        for service in CONFIRM_DOCUMENT_DELETION:
            await connection.execute("SELECT pg_notify('ingestion_document', %s)", (service,))
            async with open_database.workspace(folder.workspace_id) as writing:
                confirmation = Confirmation(document_id, service, {"rows": 1}, {"rows": 0})
                await Deletions(writing, folder.workspace_id).confirm([confirmation])
        await connection.execute("NOTIFY ingestion_document, 'the end'")
        told = []
        async for one in connection.notifies():
            told.append(one.payload)
            if one.payload == "the end":
                break
    # First that the document is being deleted.
    assert told == [str(document_id), *CONFIRM_DOCUMENT_DELETION, str(document_id), "the end"]


async def test_objects_are_listed_once_and_deleted_together(
    folder: Any,
    process: Process,
    object_store: ObjectStore,
    delete_source: Any,
    source_receipt: Any,
    open_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = [(await folder.take(f"{index}.md", b"text %d" % index)).document.id for index in range(3)]
    for one in documents:
        await process(str(one))
    assert await delete_source(folder)
    methods: list[str] = []
    urlopen = object_store.http.urlopen

    def counting(method: str, *arguments: Any, **options: Any) -> Any:
        methods.append(method)
        return urlopen(method, *arguments, **options)

    monkeypatch.setattr(object_store.http, "urlopen", counting)
    catalogs = Catalogs(open_database, Outbox("ingestion"))
    assert await DeletionJob(catalogs, object_store, Notifications(""), "ingestion_work").delete_due() == 3
    assert methods == ["GET", "GET", "GET", "POST"]
    [receipt] = (await source_receipt(folder)).services
    removed = {"documents": 3, "versions": 3, "stages": 18, "originals": 3, "derived_objects": 9}
    assert (receipt.removed, receipt.remaining) == (removed, dict.fromkeys(removed, 0))
    assert object_store.keys(str(folder.workspace_id)) == []


async def test_thousands_of_documents_are_deleted_in_one_deletion(
    folder: Any, delete_source: Any, source_receipt: Any, database: Any, open_database: Database
) -> None:
    assert open_database
    with psycopg.connect(database.admin) as connection:
        values = {"workspace": folder.workspace_id, "source": folder.source_id}
        connection.execute("SET search_path = ingestion")
        connection.execute(
            "INSERT INTO document (workspace_id, id, name, media_type, file_size, content_hash)"
            " SELECT %(workspace)s, gen_random_uuid(), n || '.md', 'text/markdown', 1, 'hash ' || n"
            " FROM generate_series(1, 10000) AS n",
            values,
        )
        connection.execute(
            "INSERT INTO origin (workspace_id, id, kind, source_id, path, name, document_id)"
            " SELECT %(workspace)s, gen_random_uuid(), 'folder', %(source)s, name, name, id FROM document",
            values,
        )
    started = asyncio.get_running_loop().time()
    assert await delete_source(folder)
    receipt = await source_receipt(folder)
    assert (receipt.documents, receipt.pending_documents) == (10_000, 10_000)
    assert asyncio.get_running_loop().time() - started < 25
    with psycopg.connect(database.admin) as connection:
        rows = connection.execute("SELECT count(*) FROM ingestion.outbox").fetchone()
    assert rows == (10_000,)


async def test_a_deletion_during_processing_of_a_new_version_deletes_all_versions(
    searchable: Entry,
    process: Process,
    converter: Any,
    client: httpx2.AsyncClient,
    object_store: ObjectStore,
    workspace_id: Any,
) -> None:
    document = await searchable("a.md", b"First\ntext")
    path = f"/v1/documents/{document['id']}"
    converter.started.clear()
    await client.put(path, files=[("file", ("gate-a.md", b"Second\ntext"))])
    running = asyncio.create_task(process(document["id"]))
    assert await asyncio.to_thread(converter.started.wait, 120)
    assert object_store.keys(derived_prefix(workspace_id, document["id"]))
    answer = await client.delete(path)
    assert answer.status_code == 200, answer.text
    await running
    counts = {one["service"]: one for one in answer.json()["services"]}["ingestion"]
    assert counts["removed"] == {"documents": 1, "versions": 2, "stages": 6, "originals": 2, "derived_objects": 3}
    assert not any(counts["remaining"].values())
    assert object_store.keys(str(workspace_id)) == []


async def test_an_original_that_another_document_needs_is_kept(
    upload: Entry, client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: Any, eventually: Any
) -> None:
    first = (await upload("a.md", b"shared bytes"))["document"]
    await client.put(f"/v1/documents/{first['id']}", files=[("file", ("a.md", b"other bytes"))])
    second = (await upload("b.md", b"shared bytes"))["document"]
    assert second["id"] != first["id"]
    await client.delete(f"/v1/documents/{first['id']}", params={"timeout": 0})

    async def receipt() -> Any:
        return (await client.get(f"/v1/documents/{first['id']}/receipt")).json()["pending"]

    await eventually(receipt, lambda pending: "ingestion" not in pending)
    assert (await client.get(f"/v1/documents/{second['id']}/original")).content == b"shared bytes"
    assert len(object_store.keys(f"{workspace_id}/originals/")) == 1


async def test_the_objects_of_a_workspace_are_deleted_and_counted(object_store: ObjectStore) -> None:
    mine, theirs = uuid4(), uuid4()
    for workspace_id in (mine, theirs):
        for index in range(3):
            object_store.put(f"{workspace_id}/documents/{index}", b"x")
    assert await delete_workspace_objects(object_store, mine) == (3, 0)
    assert await delete_workspace_objects(object_store, mine) == (0, 0)
    assert len(object_store.keys(f"{theirs}/")) == 3
