"""Stores with missing or leftover data: `reconcile` reports each difference, and repairs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from api_calls import client, settled
from minio import Minio
from stack import PATIENT, EmbeddedStack

PAGES = {f"{name}.md": f"# {name}\n\nThe {name} lives in the {place}.\n" for name, place in (
    ("badger", "sett"), ("beaver", "lodge"), ("otter", "holt"), ("hare", "form"),
)}  # fmt: skip


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    with EmbeddedStack.started(tmp_path_factory.mktemp("drift"), **PATIENT, RATE_LIMIT_PER_MINUTE="0") as running:
        yield running


def reconcile(stack: EmbeddedStack, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Runs `reconcile`; returns its exit code and the findings by kind."""
    environment = stack.processes()["ingestion"].environ() | {"SETTLED_AFTER_SECONDS": "0"}
    command = [sys.executable, "-m", "ingestion", "reconcile", "--json", *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode in {0, 1}, run.stderr
    return run.returncode, {found["kind"]: found for found in map(json.loads, run.stdout.splitlines())}


async def uploaded(http: httpx2.AsyncClient) -> dict[str, str]:
    """Uploads the pages; returns ids by name once each document is searchable and in the graph."""
    files = [("files", (name, text.encode())) for name, text in PAGES.items()]
    answer = (await http.post("/v1/documents", files=files)).raise_for_status().json()
    found = {one["name"]: one["document"]["id"] for one in answer["files"]}
    for identifier in found.values():
        await succeeded(http, identifier)
    return found


async def succeeded(http: httpx2.AsyncClient, identifier: str) -> None:
    stages = (await settled(http, identifier))["stages"]
    assert {stage["status"] for stage in stages} == {"succeeded"}, stages


def damage(stack: EmbeddedStack, workspace: UUID, documents: dict[str, str]) -> None:
    """Removes chunks from the object store and a document from the index, and adds an orphaned object."""
    environment = stack.processes()["ingestion"].environ()
    store = Minio(
        environment["S3_ENDPOINT"],
        access_key=environment["S3_ACCESS_KEY"],
        secret_key=environment["S3_SECRET_KEY"],
        secure=False,
        region="us-east-1",
    )
    bucket = environment["S3_BUCKET"]
    store.remove_object(bucket, f"{workspace}/documents/{documents['badger.md']}/v1/chunks.jsonl")
    store.put_object(bucket, f"{workspace}/documents/{uuid4()}/v1/document.md", BytesIO(b"nobody's"), 8)
    with psycopg.connect(stack.processes()["retrieval"].environ()["DATABASE_URL"]) as connection:
        connection.execute("SELECT set_config('app.workspace_id', %s, true)", (str(workspace),))
        connection.execute("DELETE FROM indexed_document WHERE document_id = %s", (documents["otter.md"],))


@pytest.mark.timeout(900)
async def test_drift_is_reported_and_repaired(stack: EmbeddedStack) -> None:
    async with client(stack.url, stack.api_key) as http:
        workspace = UUID((await http.get("/v1/me")).json()["workspace"]["id"])
        documents = await uploaded(http)
        assert reconcile(stack) == (0, {})

        damage(stack, workspace, documents)
        code, found = reconcile(stack)
        assert (code, set(found)) == (1, {"derived-missing", "not-indexed", "object-orphan"})
        assert found["derived-missing"]["document_id"] == documents["badger.md"]
        assert found["not-indexed"]["document_id"] == documents["otter.md"]

        assert reconcile(stack, "--repair")[0] == 0
        for identifier in documents.values():
            await succeeded(http, identifier)
        assert reconcile(stack) == (0, {})
        for query, name in (("Where does the otter live?", "otter.md"), ("Where does the badger live?", "badger.md")):
            hits = (await http.post("/v1/search", json={"query": query})).raise_for_status().json()["hits"]
            assert hits[0]["document_name"] == name
