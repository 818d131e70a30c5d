"""Workers, engines and consumers die during a synchronisation: in the end each file is there once, or says why not.

Uses a sample of the evaluation data; FAULTS_WHOLE=1 takes all 736 proposals and every file of doc-convert.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api_calls import EVALUATION, PATIENCE, client
from stack import EmbeddedStack

from contracts.registry import CONFIRM_DOCUMENT_DELETION

KILLED = ("ingestion-worker", "retrieval", "valkey", "postgres", "object-store")
WHOLE = bool(os.environ.get("FAULTS_WHOLE"))
PROPOSALS = 736 if WHOLE else 30
KILLS_EACH = 6 if WHOLE else 2
# The launcher gives up on a process that crashes five times a minute; 8 s between any two kills stay below that.
PAUSE_SECONDS = 8.0
# Expected error classes of the unreadable files in doc-convert, by the end of their name.
TRUE_REASONS = {".pdf": {"password-protected"}, ".doc": {"unsupported-format"}, ".ppt": {"unsupported-format"}}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    proposals = sorted((EVALUATION / "ingest-peps" / "t1").glob("*.rst"), key=lambda path: path.stat().st_size)
    others = sorted((EVALUATION / "doc-convert").glob("*/sources/*"))
    if not proposals or not others:
        pytest.skip("../shared/eval/ingest-peps and doc-convert are not here")
    folder = tmp_path_factory.mktemp("documents")
    for path in proposals[:: max(1, len(proposals) // PROPOSALS)][:PROPOSALS]:
        shutil.copyfile(path, folder / path.name)
    for path in others:
        (folder / path.parts[-3]).mkdir(exist_ok=True)
        shutil.copyfile(path, folder / path.parts[-3] / path.name)
    return folder


@pytest.fixture(scope="module")
def stack(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    settings = {"RATE_LIMIT_PER_MINUTE": "0", "SOURCE_ROOTS": str(documents), "CONVERT_SECONDS": "300"}
    settings["MAX_LOSSES"] = str(KILLS_EACH * len(KILLED) + 1)  # each kill may hit the same document
    with EmbeddedStack.started(tmp_path_factory.mktemp("engines"), **settings) as running:
        yield running


async def keep_killing(stack: EmbeddedStack, done: asyncio.Event) -> Counter[str]:
    """Kills the processes in turn; one that is being restarted is left alone."""
    kills: Counter[str] = Counter()
    for name in cycle(KILLED):
        if all(kills[one] >= KILLS_EACH for one in KILLED):
            break
        try:
            async with asyncio.timeout(PAUSE_SECONDS):
                await done.wait()
            break
        except TimeoutError:
            if name in stack.processes() and kills[name] < KILLS_EACH:
                stack.kill(name)
                kills[name] += 1
    return kills


async def patiently(http: httpx2.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    """Returns the response, retrying while the engine behind it is down."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                response = await http.get(path, params=params)
                if response.status_code == 200:
                    return dict(response.json())
            except httpx2.TransportError:
                pass  # retried below, like a refusal
            await asyncio.sleep(0.5)  # the process that would report its return is the one that is down


async def every(http: httpx2.AsyncClient, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = await patiently(http, path, limit=200, **({"cursor": cursor} if cursor else {}))
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.timeout(3000 if WHOLE else 900)
async def test_every_document_is_searchable_once_or_failed_with_a_reason(stack: EmbeddedStack, documents: Path) -> None:
    async with client(stack.url, stack.api_key) as http:
        done = asyncio.Event()
        config = {"kind": "folder", "path": str(documents), "watch": False}
        source = (await http.post("/v1/sources", json={"name": "all", "config": config})).raise_for_status().json()
        killer = asyncio.create_task(keep_killing(stack, done))
        sync = await ended(http, source["id"])
        assert sync["status"] == "succeeded", sync
        await nothing_in_work(http)
        done.set()
        kills = await killer
        assert all(kills[name] for name in KILLED), kills

        await settled(http, sync)
        await deletions_balance(http, source["id"])


async def ended(http: httpx2.AsyncClient, source: str) -> dict[str, Any]:
    """Waits for the first synchronisation, however often it has to start over."""
    while True:
        sync = (await patiently(http, f"/v1/sources/{source}/syncs"))["items"][0]
        if sync["status"] not in {"queued", "running"}:
            return dict(sync)
        await patiently(http, f"/v1/sources/{source}/syncs/{sync['id']}", wait="finished", timeout=10)


async def nothing_in_work(http: httpx2.AsyncClient) -> None:
    """Waits until no document is in progress."""
    while True:
        page = (await patiently(http, "/v1/documents", status="processing", limit=1))["items"]
        if not page:
            return
        await patiently(http, f"/v1/documents/{page[0]['id']}", wait="searchable", timeout=10)


async def settled(http: httpx2.AsyncClient, sync: dict[str, Any]) -> None:
    found = await every(http, "/v1/documents")
    assert len(found) == len({one["content_hash"] for one in found})
    assert sync["added"] >= len(found)
    for one in found:
        if one["status"] == "searchable":
            await assert_indexed_once(http, one)
            continue
        detail = await patiently(http, f"/v1/documents/{one['id']}")
        reasons = {stage["error_class"] for stage in detail["stages"] if stage["status"] == "failed"}
        expected = TRUE_REASONS.get(Path(one["name"]).suffix, set())
        assert one["status"] == "failed", one
        assert reasons <= expected, (one["name"], detail["explanation"])
    failed = [one["name"] for one in found if one["status"] == "failed"]
    assert len(failed) <= 6, failed


async def assert_indexed_once(http: httpx2.AsyncClient, document: dict[str, Any]) -> None:
    """Asserts that a search limited to the document returns each of its chunks once (up to the limit of 100)."""
    body = {"query": "the", "mode": "dense", "k": 100, "document_ids": [document["id"]], "fold_duplicates": False}
    async with asyncio.timeout(PATIENCE):
        while True:
            response = await http.post("/v1/search", json=body)
            if response.status_code == 200:
                break
            await asyncio.sleep(0.5)  # the last kill may have hit the index
    hits = response.json()["hits"]
    assert len(hits) == len({hit["chunk_id"] for hit in hits}) == min(100, document["chunk_count"]), document["name"]


async def deletions_balance(http: httpx2.AsyncClient, source: str) -> None:
    """Deletes the source; asserts that every service has confirmed every document, with nothing left."""
    count = (await patiently(http, f"/v1/sources/{source}"))["documents"]
    receipt = (await http.delete(f"/v1/sources/{source}", params={"timeout": 240})).json()
    while receipt["completed_at"] is None:
        receipt = await patiently(http, f"/v1/sources/{source}/receipt")
        await asyncio.sleep(0.5)  # the receipt grows as services confirm
    assert (receipt["documents"], receipt["pending_documents"]) == (count, 0)
    assert {one["service"] for one in receipt["services"]} == set(CONFIRM_DOCUMENT_DELETION)
    assert not any(sum(one["remaining"].values()) for one in receipt["services"]), receipt
    hits = (await http.post("/v1/search", json={"query": "Python enhancement proposal"})).raise_for_status().json()
    assert hits["hits"] == []
