"""Origins: equal bytes are one document, and a place keeps its document when its content changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from contracts.ingestion import Lane, OriginKind
from contracts.object_keys import original_key
from contracts.sources import OnRemoved
from ingestion.documents.catalog import Catalogs
from ingestion.documents.incoming_files import IncomingFile, IntakeLimits
from ingestion.documents.intake import Intake, SourceGone
from ingestion.documents.origins import Provenance
from ingestion.settings import Settings
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


def taken_id(taken: Any) -> str:
    assert taken.document
    return str(taken.document.id)


async def test_a_document_shows_its_origin(folder: Any, client: httpx2.AsyncClient, detail: Detail) -> None:
    assert client
    taken = await folder.take("guides/setup.md", b"# Setup")
    assert taken.change == "created"
    shown = await detail(taken_id(taken))
    assert (shown["name"], shown["source_type"], shown["source_name"]) == ("setup.md", "folder", "docs")
    assert (shown["source_path"], shown["source_uri"]) == ("guides/setup.md", "file:///guides/setup.md")
    assert shown["source_id"] == str(folder.source_id)
    assert [(one["kind"], one["path"]) for one in shown["origins"]] == [("folder", "guides/setup.md")]
    assert {stage["lane"] for stage in shown["stages"]} == {"bulk"}


async def test_uploading_the_same_file_again_is_unchanged(folder: Any) -> None:
    first = await folder.take("a.md", b"same")
    again = await folder.take("a.md", b"same")
    assert (again.change, again.document.id, again.document.version) == ("unchanged", first.document.id, 1)


async def test_a_changed_file_is_a_new_version(folder: Any, object_store: ObjectStore, detail: Detail) -> None:
    first = await folder.take("a.md", b"before")
    changed = await folder.take("a.md", b"after")
    assert (changed.change, changed.document.id, changed.document.version) == ("new_version", first.document.id, 2)
    assert changed.origin_id == first.origin_id
    assert object_store.get(original_key(folder.workspace_id, changed.document.content_hash)) == b"after"
    shown = await detail(taken_id(changed))
    assert (shown["version"], shown["file_size"], shown["searchable_version"]) == (2, 5, None)


async def test_a_moved_file_keeps_its_document(folder: Any, detail: Detail) -> None:
    first = await folder.take("old.md", b"text")
    moved = await folder.take("new/place.md", b"text")
    assert (moved.change, moved.document.id) == ("linked", first.document.id)
    assert await folder.drop(first.origin_id) == "unlinked"
    shown = await detail(taken_id(moved))
    assert (shown["name"], shown["source_path"], len(shown["origins"])) == ("place.md", "new/place.md", 1)
    assert await folder.drop(first.origin_id) == "unknown"


async def test_services_are_notified_of_a_new_name(
    folder: Any, process: Process, neighbours: Any, settled: Any, eventually: Any
) -> None:
    first = await folder.take("old.md", b"Title\ntext")
    await process(taken_id(first))
    assert (await settled(taken_id(first)))["status"] == "searchable"
    await folder.take("new.md", b"Title\ntext")
    await folder.drop(first.origin_id)

    async def announced() -> list[bytes]:
        entries = await neighbours.redis.xrange("attractor.documents")
        return [entry[b"event"] for _, entry in entries if b"document.described.v2" in entry[b"event"]]

    events = await eventually(announced)
    assert len(events) == 1
    assert b'"new.md"' in events[0]


async def test_services_are_notified_of_every_source_of_a_document(
    folder: Any, make_folder: Any, process: Process, neighbours: Any, settled: Any, eventually: Any
) -> None:
    other = make_folder("other")
    first = await folder.take("notes/a.md", b"# Title\ntext")
    await process(taken_id(first))
    assert (await settled(taken_id(first)))["status"] == "searchable"
    second = await other.take("b.md", b"# Title\ntext")
    assert second.document.id == first.document.id
    await folder.drop(first.origin_id)

    async def announced() -> list[dict[str, Any]]:
        entries = await neighbours.redis.xrange("attractor.documents")
        events = [json.loads(entry[b"event"]) for _, entry in entries]
        found = [one["data"] for one in events if one["type"] in {"document.converted.v3", "document.described.v2"}]
        return found if len(found) >= 3 else []

    converted, linked, left = await eventually(announced)
    both = sorted([str(folder.source_id), str(other.source_id)])
    assert converted["source_ids"] == [str(folder.source_id)]
    assert (linked["source_ids"], left["source_ids"]) == (both, [str(other.source_id)])
    place = converted["metadata"]["source"]
    assert (place["path"], place["uri"]) == ("notes/a.md", "file:///notes/a.md")
    assert (converted["metadata"]["file_size"], converted["source_type"]) == (12, "folder")
    assert left["metadata"]["source"]["path"] == "b.md"
    assert {one["version"] for one in (converted, linked, left)} == {1}


async def test_a_changed_copy_becomes_another_document(folder: Any, detail: Detail) -> None:
    first = await folder.take("a.md", b"copied")
    second = await folder.take("b.md", b"copied")
    changed = await folder.take("b.md", b"changed")
    assert (changed.change, changed.origin_id) == ("created", second.origin_id)
    assert changed.document.id != first.document.id
    assert [one["path"] for one in (await detail(taken_id(first)))["origins"]] == ["a.md"]


async def test_a_file_that_becomes_identical_to_another_leaves_its_document(
    folder: Any, client: httpx2.AsyncClient
) -> None:
    first = await folder.take("a.md", b"one")
    second = await folder.take("b.md", b"two")
    equal = await folder.take("b.md", b"one")
    assert (equal.change, equal.document.id) == ("linked", first.document.id)
    assert (await client.get(f"/v1/documents/{second.document.id}")).status_code == 404


async def test_a_document_is_deleted_with_its_last_origin(
    folder: Any, make_folder: Any, client: httpx2.AsyncClient
) -> None:
    other = make_folder("other")
    first, second = await folder.take("a.md", b"shared"), await other.take("x/b.md", b"shared")
    assert first.document.id == second.document.id
    assert await folder.drop(first.origin_id) == "unlinked"
    shown = (await client.get(f"/v1/documents/{first.document.id}")).json()
    assert (shown["source_name"], shown["name"]) == ("other", "b.md")
    assert await other.drop(second.origin_id) == "deleted"
    assert (await client.get(f"/v1/documents/{first.document.id}")).status_code == 404
    again = await folder.take("a.md", b"shared")
    assert again.change == "created"


async def test_a_missing_file_can_leave_its_document_as_stale(folder: Any, client: httpx2.AsyncClient) -> None:
    first = await folder.take("a.md", b"text")
    second = await folder.take("b.md", b"text")
    assert await folder.drop(first.origin_id, OnRemoved.mark_stale) == "stale"
    assert await stale(client) == []  # it still exists at the other place
    assert await folder.drop(second.origin_id, OnRemoved.mark_stale) == "stale"
    assert await stale(client) == [taken_id(first)]
    await folder.intake.seen(folder.workspace_id, [second.origin_id])
    assert await stale(client) == []
    await folder.drop(second.origin_id, OnRemoved.mark_stale)
    assert (await folder.take("b.md", b"text")).change == "unchanged"
    assert await stale(client) == []


async def stale(client: httpx2.AsyncClient) -> list[str]:
    page = (await client.get("/v1/documents", params={"stale": True})).json()
    return [one["id"] for one in page["items"]]


async def test_a_source_does_not_restore_a_deleted_document(
    folder: Any, client: httpx2.AsyncClient, upload: Entry
) -> None:
    taken = await folder.take("secret.md", b"secret")
    await client.delete(f"/v1/documents/{taken.document.id}", params={"timeout": 0})
    assert (await folder.take("secret.md", b"secret")).change == "excluded"
    assert (await folder.take("secret.md", b"changed secret")).change == "excluded"
    await client.delete(f"/v1/documents/{taken.document.id}", params={"timeout": 0})
    moved = await folder.take("moved/secret.md", b"changed secret")
    assert moved.change == "excluded"
    # It is gone from the source, so its exclusion is forgotten. An upload brings it back.
    assert await folder.drop(moved.origin_id) == "unlinked"
    assert (await upload("secret.md", b"secret"))["created"]


async def test_concurrent_identical_files_are_one_document(
    make_folder: Any, upload: Entry, client: httpx2.AsyncClient
) -> None:
    folders = [make_folder(f"folder {index}") for index in range(4)]
    taken = [folder.take(f"{index}.md", b"raced") for folder in folders for index in range(3)]
    uploads = [upload(f"{index}.md", b"raced") for index in range(4)]
    await asyncio.gather(*taken, *uploads)
    documents = (await client.get("/v1/documents")).json()["items"]
    assert len(documents) == 1
    origins = (await client.get(f"/v1/documents/{documents[0]['id']}")).json()["origins"]
    assert len(origins) == 13  # uploads of the same bytes share one origin


async def test_concurrent_changes_at_one_path_leave_one_document(folder: Any, client: httpx2.AsyncClient) -> None:
    await folder.take("a.md", b"first")
    await asyncio.gather(*(folder.take("a.md", b"change %d" % (index % 3)) for index in range(9)))
    documents = (await client.get("/v1/documents")).json()["items"]
    assert len(documents) == 1
    origins = (await client.get(f"/v1/documents/{documents[0]['id']}")).json()["origins"]
    assert [one["path"] for one in origins] == ["a.md"]


async def test_concurrent_intake_and_deletion_are_consistent(folder: Any, client: httpx2.AsyncClient) -> None:
    taken = await folder.take("a.md", b"text")
    answer, changed = await asyncio.gather(
        client.delete(f"/v1/documents/{taken.document.id}", params={"timeout": 0}), folder.take("a.md", b"other text")
    )
    assert answer.status_code == 202
    assert changed.change in {"new_version", "excluded"}
    assert (await client.get("/v1/documents")).json()["items"] == []


async def test_no_file_is_accepted_from_a_deleted_source(
    folder: Any, open_database: Database, client: httpx2.AsyncClient
) -> None:
    await folder.take("a.md", b"text")
    async with Catalogs(open_database, Outbox("ingestion")).open(folder.workspace_id) as catalog:
        await catalog.delete_source(folder.source_id)
    with pytest.raises(SourceGone):
        await folder.take("b.md", b"more")
    assert (await client.get("/v1/documents")).json()["items"] == []


async def test_a_rejected_file_is_reported_with_its_reason(folder: Any) -> None:
    for path, content, slug in [("a.md", b"", "empty-file"), ("a.exe", b"MZ", "unsupported-format")]:
        taken = await folder.take(path, content)
        assert (taken.change, taken.refused.error) == ("refused", slug)


async def test_a_full_bulk_queue_does_not_block_uploads(
    folder: Any, settings: Settings, object_store: ObjectStore, open_database: Database, client: httpx2.AsyncClient
) -> None:
    assert client
    limits = IntakeLimits(settings.max_file_bytes, max_queued_bytes=10)
    folder.intake = Intake(open_database, object_store, Outbox("ingestion"), limits)
    assert await folder.intake.has_room(folder.workspace_id, Lane.bulk)
    await folder.take("a.md", b"ten bytes!")
    assert not await folder.intake.has_room(folder.workspace_id, Lane.bulk)
    assert await folder.intake.has_room(folder.workspace_id, Lane.interactive)


async def test_uploading_a_file_of_a_source_moves_it_to_the_interactive_lane(
    folder: Any, upload: Entry, detail: Detail
) -> None:
    taken = await folder.take("a.md", b"text")
    entry = await upload("a.md", b"text")
    assert (entry["created"], entry["document"]["id"]) == (False, taken_id(taken))
    assert {stage["lane"] for stage in (await detail(taken_id(taken)))["stages"]} == {"interactive"}


async def test_workspaces_do_not_share_originals(folder: Any, intake: Intake, client: httpx2.AsyncClient) -> None:
    assert client
    first = await folder.take("a.md", b"text")
    path = folder.scratch / "file"
    path.write_bytes(b"text")
    file = IncomingFile(path, "a.md", 4, first.document.content_hash, b"text")
    theirs = await intake.take(uuid4(), file, Provenance(OriginKind.upload, None, "key"), Lane.interactive)
    assert theirs.change == "created"
    assert theirs.document
    assert theirs.document.id != first.document.id
    assert isinstance(theirs.document.id, UUID)
