"""Uploads of archives, and the limit of the queue."""

from __future__ import annotations

import asyncio
import gzip
import io
import sys
import tarfile
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from ingestion.app import create_app
from ingestion.settings import Settings
from service_kit.objects import ObjectStore

Entry = Callable[..., Awaitable[dict[str, Any]]]


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


async def send(client: httpx2.AsyncClient, *files: tuple[str, bytes], **params: str) -> httpx2.Response:
    return await client.post("/v1/documents", files=[("files", file) for file in files], params=params)


async def test_each_file_of_an_archive_is_reported_like_a_single_upload(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    archive = zipped({"guide.md": b"# Guide", "deep/copy.md": b"# Guide", "tool.exe": b"MZ", "../up.md": b"x"})
    answer = await send(client, ("docs.zip", archive), ("single.md", b"# Single"))
    assert answer.status_code == 202, answer.text
    files = answer.json()["files"]
    assert [(one["name"], one["error"], one["created"]) for one in files] == [
        ("docs.zip/guide.md", None, True),
        ("docs.zip/deep/copy.md", None, False),  # the same bytes
        ("docs.zip/tool.exe", "unsupported-format", False),
        ("docs.zip/../up.md", "unsafe-path", False),
        ("single.md", None, True),
    ]
    document = (await client.get(f"/v1/documents/{files[0]['document']['id']}")).json()
    assert document["name"] == "guide.md"
    assert document["source_path"].endswith("/docs.zip/guide.md")
    assert [one["path"].split("/", 1)[1] for one in document["origins"]] == [
        "docs.zip/guide.md",
        "docs.zip/deep/copy.md",
    ]
    again = (await send(client, ("docs.zip", archive))).json()["files"]
    assert [one["created"] for one in again] == [False, False, False, False]
    changed = (await send(client, ("docs.zip", zipped({"guide.md": b"# Guide 2"})))).json()["files"]
    assert (changed[0]["created"], changed[0]["new_version"]) == (True, False)
    assert [path.name for path in settings.upload_folder.rglob("*") if not path.is_dir()] == []


async def test_an_archive_cannot_have_a_key_or_replace_content(client: httpx2.AsyncClient, upload: Entry) -> None:
    archive = zipped({"guide.md": b"# Guide"})
    answer = await send(client, ("docs.zip", archive), key="k")
    assert (answer.status_code, answer.json()["files"][0]["error"]) == (422, "archive-with-key")
    document = (await upload())["document"]
    answer = await client.put(f"/v1/documents/{document['id']}", files=[("file", ("docs.zip", archive))])
    assert answer.json()["files"][0]["error"] == "unsupported-format"
    answer = await send(client, ("docs.zip", b"PK\x03\x04 damaged"))
    assert (answer.status_code, answer.json()["files"][0]["error"]) == (422, "archive-damaged")
    answer = await send(client, ("docs.zip", zipped({})))
    assert (answer.status_code, answer.json()["files"][0]["error"]) == (422, "empty-archive")


async def test_the_expanded_size_of_an_archive_is_limited(
    settings: Settings, running: Any, auth_headers: Callable[..., dict[str, str]], object_store: ObjectStore
) -> None:
    assert object_store
    few = settings.model_copy(update={"max_archive_files": 2})
    async with running(create_app(few)) as client:
        client.headers.update(auth_headers())
        answer = await send(client, ("a.zip", zipped({f"{index}.md": b"%d" % index for index in range(5)})))
    assert [one["error"] for one in answer.json()["files"]] == [None, None, "archive-too-large"]
    assert answer.json()["files"][-1]["name"] == "a.zip"


@pytest.fixture
async def narrow(
    settings: Settings, running: Any, auth_headers: Callable[..., dict[str, str]], object_store: ObjectStore
) -> Any:
    """A client of an API whose queue holds 20 bytes."""
    assert object_store
    async with running(create_app(settings.model_copy(update={"max_queued_bytes": 20}))) as client:
        client.headers.update(auth_headers())
        yield client


async def test_the_queue_of_a_workspace_is_limited(
    narrow: httpx2.AsyncClient, auth_headers: Callable[..., dict[str, str]]
) -> None:
    answer = await send(narrow, ("a.md", b"twelve bytes"), ("b.md", b"more than the rest"), ("c.md", b"fits"))
    assert [one["error"] for one in answer.json()["files"]] == [None, "too-much-queued", None]
    first = answer.json()["files"][0]["document"]["id"]
    refused = await send(narrow, ("b.md", b"more than the rest"))
    assert (refused.status_code, refused.json()["type"]) == (429, "too-much-queued")
    assert int(refused.headers["retry-after"]) > 0
    await send(narrow, ("d.md", b"four"))
    # The body is not read.
    refused = await narrow.post("/v1/documents", content=b"not even multipart")
    assert refused.status_code == 429
    refused = await narrow.put(f"/v1/documents/{first}", files=[("file", ("a.md", b"x"))])
    assert refused.status_code == 429
    other = auth_headers(workspace_id="00000000-0000-0000-0000-000000000005")
    theirs = await narrow.post("/v1/documents", files=[("files", ("a.md", b"theirs"))], headers=other)
    assert theirs.status_code == 202
    await narrow.delete(f"/v1/documents/{first}", params={"timeout": 0})
    assert (await send(narrow, ("e.md", b"room again"))).status_code == 202


async def test_an_empty_queue_accepts_a_file_of_any_size(narrow: httpx2.AsyncClient) -> None:
    assert (await send(narrow, ("a.md", b"x" * 30))).status_code == 202


async def test_a_header_that_is_slow_to_parse_blocks_nobody_else(client: httpx2.AsyncClient) -> None:
    """Regression: 200 bytes that expand to 30,000 digits froze the whole API for seconds (CVE-2024-6232)."""
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 30_000
    bomb = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"9" * 30_208)
    upload, answered = asyncio.create_task(send(client, ("bomb.tar.gz", bomb))), 0
    while not upload.done():
        assert (await client.get("/v1/documents")).status_code == 200
        answered += 1
    [answer] = (await upload).json()["files"]
    assert answer["error"] in {"archive-damaged", "archive-unreadable"}
    # A fixed Python is done at once and holds up no request.
    assert answered > 3 or sys.version_info >= (3, 11, 10)


async def test_a_header_above_64_kib_is_not_read(client: httpx2.AsyncClient) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 100_000
    bomb = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"9" * 100_352)
    [answer] = (await send(client, ("bomb.tar.gz", bomb))).json()["files"]
    assert (answer["error"], answer["message"]) == ("archive-too-large", "the archive has a header that is too long")
