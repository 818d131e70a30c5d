"""Uploads of files: accepted, refused and already known ones."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psutil
import pytest
from fastapi import FastAPI

from contracts.gateway import Role
from contracts.object_keys import original_key
from ingestion.app import create_app
from ingestion.settings import Settings
from service_kit.objects import ObjectStore

Upload = Callable[..., Awaitable[dict[str, Any]]]


async def test_a_document_and_its_original_are_stored(
    client: httpx2.AsyncClient, upload: Upload, object_store: ObjectStore, workspace_id: UUID
) -> None:
    body = b"# Title\n\nText."
    entry = await upload("folder/notes.md", body)
    assert (entry["name"], entry["created"], entry["error"]) == ("notes.md", True, None)
    document = entry["document"]
    assert document["content_hash"] == hashlib.sha256(body).hexdigest()
    assert (document["file_size"], document["media_type"], document["status"]) == (
        len(body),
        "text/markdown",
        "processing",
    )
    assert object_store.get(original_key(workspace_id, document["content_hash"])) == body

    answer = await client.get(f"/v1/documents/{document['id']}")
    detail = answer.json()
    assert [(stage["name"], stage["status"]) for stage in detail["stages"]] == [
        ("store", "succeeded"),
        ("convert", "queued"),
        ("chunk", "waiting"),
        ("embed", "waiting"),
        ("index", "waiting"),
        ("graph", "waiting"),
    ]
    assert detail["explanation"] == "Waiting for a worker, but none is running"
    second = await upload("second.md")
    detail = (await client.get(f"/v1/documents/{second['document']['id']}")).json()
    assert detail["explanation"] == "Waiting for a worker, but none is running"


async def test_a_bad_file_does_not_stop_the_others(client: httpx2.AsyncClient) -> None:
    files = [
        ("files", ("good.md", b"# Good")),
        ("files", ("empty.md", b"")),
        ("files", ("setup.exe", b"MZ\x00")),
        ("files", ("large.txt", b"x" * 1_000_001)),
        ("stray", ("stray.md", b"text")),
        ("file", ("also.txt", b"good too")),
    ]
    answer = await client.post("/v1/documents", files=files)
    assert answer.status_code == 202
    outcome = [(one["name"], one["error"], one["document"] is not None) for one in answer.json()["files"]]
    assert outcome == [
        ("good.md", None, True),
        ("empty.md", "empty-file", False),
        ("setup.exe", "unsupported-format", False),
        ("large.txt", "file-too-large", False),
        ("stray.md", "unexpected-field", False),
        ("also.txt", None, True),
    ]
    assert "docx" in answer.json()["files"][2]["message"]


async def test_if_every_file_is_rejected_the_problem_lists_the_reasons(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/documents", files=[("files", ("a.md", b"")), ("files", ("b.exe", b"MZ"))])
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["type"] == "nothing-accepted"
    assert [one["error"] for one in body["files"]] == ["empty-file", "unsupported-format"]


async def test_the_same_bytes_are_the_same_document(upload: Upload) -> None:
    first = await upload("a.md", b"same bytes")
    again = await upload("renamed.md", b"same bytes")
    assert (first["created"], again["created"]) == (True, False)
    assert again["document"]["id"] == first["document"]["id"]


async def test_concurrent_uploads_of_the_same_bytes_create_one_document(
    client: httpx2.AsyncClient, upload: Upload
) -> None:
    entries = await asyncio.gather(*(upload(f"{index}.md", b"raced bytes") for index in range(8)))
    assert len({entry["document"]["id"] for entry in entries}) == 1
    assert sum(entry["created"] for entry in entries) == 1
    assert len((await client.get("/v1/documents")).json()["items"]) == 1


@pytest.mark.parametrize(
    ("body", "content_type", "status", "slug"),
    [
        (b"{}", "application/json", 415, "unsupported-media-type"),
        (b"", "multipart/form-data", 400, "bad-multipart"),
        (b"garbage", "multipart/form-data; boundary=x", 400, "bad-multipart"),
        (
            b"--x\r\nContent-Disposition: form-data; name=files; filename=a.md\r\n\r\ncut",
            "multipart/form-data; boundary=x",
            400,
            "bad-multipart",
        ),
        (b"--x--\r\n", "multipart/form-data; boundary=x", 422, "no-files"),
        (
            b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\ntext\r\n--x--',
            "multipart/form-data; boundary=x",
            422,
            "nothing-accepted",
        ),
    ],
)
async def test_a_malformed_request_is_a_client_error(
    client: httpx2.AsyncClient, body: bytes, content_type: str, status: int, slug: str
) -> None:
    answer = await client.post("/v1/documents", content=body, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["type"]) == (status, slug)


async def test_too_many_files_are_rejected(client: httpx2.AsyncClient) -> None:
    files = [("files", (f"{index}.md", f"{index}".encode())) for index in range(21)]
    answer = await client.post("/v1/documents", files=files)
    assert (answer.status_code, answer.json()["type"]) == (413, "too-many-files")


async def test_a_viewer_cannot_upload(client: httpx2.AsyncClient, auth_headers: Callable[..., dict[str, str]]) -> None:
    files = [("files", ("a.md", b"text"))]
    answer = await client.post("/v1/documents", files=files, headers=auth_headers(role=Role.viewer))
    assert answer.status_code == 403
    assert (await client.post("/v1/documents", files=files, headers={"Authorization": ""})).status_code == 401


async def test_workspaces_do_not_share_documents(
    client: httpx2.AsyncClient, upload: Upload, auth_headers: Callable[..., dict[str, str]]
) -> None:
    mine = (await upload("mine.md", b"shared bytes"))["document"]["id"]
    other = auth_headers(workspace_id=uuid4())
    theirs = await upload("theirs.md", b"shared bytes", headers=other)
    assert theirs["created"]
    assert theirs["document"]["id"] != mine
    for method, path in [
        ("GET", ""),
        ("GET", "/original"),
        ("GET", "/receipt"),
        ("POST", "/retry"),
        ("DELETE", ""),
    ]:
        answer = await client.request(method, f"/v1/documents/{mine}{path}", headers=other)
        assert answer.status_code == 404, (method, path)
    names = [one["name"] for one in (await client.get("/v1/documents", headers=other)).json()["items"]]
    assert names == ["theirs.md"]
    assert (await client.get(f"/v1/documents/{mine}")).status_code == 200


async def test_memory_does_not_grow_with_file_size(
    settings: Settings, running: Any, auth_headers: Callable[..., dict[str, str]], object_store: ObjectStore
) -> None:
    size = 200 * 2**20
    app: FastAPI = create_app(settings.model_copy(update={"max_file_bytes": size}))
    assert object_store.bucket
    process, peak = psutil.Process(), 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal peak
        yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="big.txt"\r\n\r\n'
        block = b"0123456789abcde\n" * 4096
        for _ in range(size // len(block)):
            peak = max(peak, process.memory_info().rss)
            yield block
        yield b"\r\n--x--\r\n"

    async with running(app) as client:
        before = process.memory_info().rss
        headers = {**auth_headers(), "Content-Type": "multipart/form-data; boundary=x"}
        answer = await client.post("/v1/documents", content=body(), headers=headers)
        after = process.memory_info().rss
    assert answer.status_code == 202, answer.text
    assert answer.json()["files"][0]["document"]["file_size"] == size
    assert max(peak, after) - before < 60 * 2**20
