"""Quotas are checked at the moment of intake: no race gets past them, and deletions make room."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from contracts.gateway import Role
from contracts.object_keys import original_key
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.settings import Settings
from ingestion.sources.sync import Synchroniser
from service_kit.objects import ObjectStore

MakeSource = Callable[..., Awaitable[Any]]
Upload = Callable[..., Awaitable[dict[str, Any]]]
MAX_DOCUMENTS, MAX_BYTES, MAX_SOURCES = 3, 100, 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "workspace_max_documents": MAX_DOCUMENTS,
            "workspace_max_bytes": MAX_BYTES,
            "workspace_max_sources": MAX_SOURCES,
        }
    )


@pytest.fixture
def work(make_synchroniser: Callable[..., Synchroniser], settings: Settings) -> Callable[[], Awaitable[int]]:
    synchroniser = make_synchroniser()
    synchroniser.intake.limits = IntakeLimits(
        settings.max_file_bytes, settings.max_queued_bytes, MAX_DOCUMENTS, MAX_BYTES
    )

    async def run() -> int:
        done = 0
        while held := await synchroniser.claim():
            await synchroniser.synchronise(held)
            done += 1
        return done

    return run


async def send(client: httpx2.AsyncClient, *contents: bytes, **options: Any) -> httpx2.Response:
    files = [("files", (f"{uuid4()}.md", content)) for content in contents]
    return await client.post("/v1/documents", files=files, **options)


async def total(client: httpx2.AsyncClient) -> list[int]:
    items = (await client.get("/v1/documents", params={"limit": 200})).json()["items"]
    return [one["file_size"] for one in items]


def originals(objects: ObjectStore, workspace_id: UUID) -> int:
    return len(objects.keys(original_key(workspace_id, "")))


async def test_concurrent_uploads_do_not_exceed_the_document_quota(
    client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID
) -> None:
    answers = await asyncio.gather(*(send(client, f"text {number}".encode()) for number in range(12)))
    assert sorted(answer.status_code for answer in answers) == [202] * 3 + [409] * 9
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {one["type"] for one in refused} == {"quota-exceeded"}
    assert all("3 documents, 3 are used" in one["detail"] for one in refused)
    assert all("delete some" in one["detail"] for one in refused)
    assert all("WORKSPACE_MAX_DOCUMENTS" in one["detail"] for one in refused)
    assert len(await total(client)) == MAX_DOCUMENTS
    assert originals(object_store, workspace_id) == MAX_DOCUMENTS


async def test_concurrent_uploads_do_not_exceed_the_byte_quota(client: httpx2.AsyncClient) -> None:
    answers = await asyncio.gather(*(send(client, b"%02d" % number + b"x" * 38) for number in range(8)))
    assert sorted(answer.status_code for answer in answers) == [202] * 2 + [409] * 6
    assert sum(await total(client)) == 80
    [detail] = {answer.json()["detail"] for answer in answers if answer.status_code == 409}
    assert "100 bytes, 80 are used and this needs 40 more" in detail
    assert "WORKSPACE_MAX_BYTES" in detail


async def test_files_that_fit_the_quota_are_accepted(client: httpx2.AsyncClient) -> None:
    answer = await send(client, b"one", b"two", b"three", b"four", b"one")
    assert answer.status_code == 202
    assert [one["error"] for one in answer.json()["files"]] == [None, None, None, "quota-exceeded", None]


async def test_deleting_a_document_frees_quota(client: httpx2.AsyncClient, upload: Upload) -> None:
    entries = [await upload("a.md", f"{number}".encode()) for number in range(MAX_DOCUMENTS)]
    assert (await send(client, b"more")).status_code == 409
    gone = entries[0]["document"]["id"]
    assert (await client.delete(f"/v1/documents/{gone}", params={"timeout": 0})).status_code == 202
    assert (await send(client, b"more")).status_code == 202
    assert (await send(client, b"still more")).status_code == 409


async def test_a_replacement_counts_only_the_difference(
    client: httpx2.AsyncClient, upload: Upload, object_store: ObjectStore, workspace_id: UUID
) -> None:
    document = (await upload("a.md", b"a" * 60))["document"]
    await upload("b.md", b"b" * 30)
    path = f"/v1/documents/{document['id']}"

    async def replace(content: bytes) -> httpx2.Response:
        return await client.put(path, files=[("file", ("a.md", content))])

    assert (await replace(b"c" * 70)).status_code == 202
    before = originals(object_store, workspace_id)
    refused = await replace(b"d" * 71)
    assert (refused.status_code, refused.json()["detail"].count("this needs 1 more")) == (409, 1)
    assert originals(object_store, workspace_id) == before
    assert (await client.get(f"/v1/documents/{document['id']}")).json()["version"] == 2
    assert sorted(await total(client)) == [30, 70]


async def test_a_refused_file_keeps_the_original_of_the_previous_version(
    client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID, upload: Upload
) -> None:
    old = (await upload("a.md", b"a" * 90))["document"]
    path = f"/v1/documents/{old['id']}"
    assert (await client.put(path, files=[("file", ("a.md", b"small"))])).status_code == 202
    await upload("b.md", b"b" * 90)
    assert (await client.put(path, files=[("file", ("a.md", b"a" * 90))])).status_code == 409
    assert object_store.get(original_key(workspace_id, old["content_hash"])) == b"a" * 90


async def test_a_synchronisation_reports_the_quota_exceeded_by_each_file_and_loses_nothing(
    make_source: MakeSource, documents: Path, client: httpx2.AsyncClient
) -> None:
    for name in "abcde":
        (documents / f"{name}.md").write_text(name)
    source = await make_source()
    first = await source.sync()
    assert (first["status"], first["added"], first["refused"]) == ("succeeded", 3, 2)
    items = (await client.get(f"{source.path}/syncs/{first['id']}/changes")).json()["items"]
    refused = [one for one in items if one["action"] == "refuse"]
    assert len(refused) == 2
    assert all("WORKSPACE_MAX_DOCUMENTS" in one["message"] for one in refused)
    kept = await source.documents()
    grown, *others = sorted(kept)
    (documents / grown).write_text("x" * 200)
    second = await source.sync()
    assert (second["status"], second["removed"], second["refused"]) == ("succeeded", 0, 3)
    assert await source.documents() == kept
    for name in others:
        (documents / name).unlink()
    await source.sync()  # its removals, which make room, come after its intake
    last = await source.sync()
    assert (last["added"], last["refused"]) == (2, 1)
    assert set(await source.documents()) == {*await asyncio.to_thread(os.listdir, documents)}


async def test_an_owner_limits_the_workspace_below_the_operators_quota(
    client: httpx2.AsyncClient, upload: Upload, documents: Path
) -> None:
    await upload("a.md", b"a" * 30)
    before = (await client.get("/v1/quota")).json()
    changed = await client.patch("/v1/quota", json={"documents": 1, "bytes": 10**9, "sources": 1})
    assert before == {
        "documents": {"used": 1, "most": MAX_DOCUMENTS, "chosen": None},
        "bytes": {"used": 30, "most": MAX_BYTES, "chosen": None},
        "sources": {"used": 0, "most": MAX_SOURCES, "chosen": None},
    }
    assert changed.json()["documents"] == {"used": 1, "most": 1, "chosen": 1}
    assert changed.json()["bytes"] == {"used": 30, "most": MAX_BYTES, "chosen": 10**9}  # the operator's is lower
    refused = await send(client, b"more")
    assert (refused.status_code, refused.json()["type"]) == (409, "quota-exceeded")
    assert "1 documents, 1 are used: delete some, or ask an owner for more" in refused.json()["detail"]
    body = {"name": "a", "config": {"kind": "folder", "path": str(documents)}}
    made = [await client.post("/v1/sources", json=body, params={"sync": False}) for _ in range(2)]
    assert [one.status_code for one in made] == [201, 409]
    assert "ask an owner for more" in made[1].json()["detail"]
    lifted = await client.patch("/v1/quota", json={"documents": None})
    assert lifted.json()["documents"]["most"] == MAX_DOCUMENTS
    assert lifted.json()["sources"]["chosen"] == 1  # what is not given stays
    assert (await send(client, b"more")).status_code == 202


async def test_only_owners_change_the_quota_and_it_is_the_workspaces_own(
    client: httpx2.AsyncClient, auth_headers: Callable[..., dict[str, str]]
) -> None:
    for role in (Role.viewer, Role.editor):
        refused = await client.patch("/v1/quota", json={"documents": 1}, headers=auth_headers(role=role))
        assert refused.status_code == 403
    for wrong in ({"documents": 0}, {"documents": "3"}, {"pages": 1}, {"bytes": 10**16}):
        assert (await client.patch("/v1/quota", json=wrong)).status_code == 422, wrong
    await client.patch("/v1/quota", json={"documents": 1})
    elsewhere = auth_headers(workspace_id=uuid4(), role=Role.viewer)
    assert (await client.get("/v1/quota", headers=elsewhere)).json()["documents"]["chosen"] is None


async def test_concurrent_sources_do_not_exceed_the_quota(client: httpx2.AsyncClient, documents: Path) -> None:
    body = {"name": "a", "config": {"kind": "folder", "path": str(documents)}}

    async def create(key: str) -> httpx2.Response:
        return await client.post("/v1/sources", json=body, headers={"Idempotency-Key": key}, params={"sync": False})

    keys = [f"key-{number}" for number in range(6)]
    answers = await asyncio.gather(*(create(key) for key in keys))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [409] * 4
    [detail] = {answer.json()["detail"] for answer in answers if answer.status_code == 409}
    assert "2 sources, 2 are used" in detail
    made = next(key for key, answer in zip(keys, answers, strict=True) if answer.status_code == 201)
    again = await create(made)
    assert again.status_code == 201
    assert (await client.delete(f"/v1/sources/{again.json()['id']}")).status_code in {200, 202, 204}
    assert (await create("another")).status_code == 201
