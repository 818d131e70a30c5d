"""The worker as deployed: a separate process with Celery, Docling and the bundled model."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx2
import psutil
import pytest

from contracts.object_keys import derived_prefix
from service_kit.objects import ObjectStore

Entry = Callable[..., Awaitable[dict[str, Any]]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]
SLOW = "".join(f"<h2>Section {index}</h2><p>Paragraph number {index} of a long page.</p>\n" for index in range(2000))


async def test_files_become_searchable_and_a_broken_one_reports_its_reason(
    worker: subprocess.Popen[bytes],
    workers: Any,
    neighbours: Any,
    client: httpx2.AsyncClient,
    eventually: Any,
) -> None:
    assert neighbours

    async def reported() -> dict[str, Any]:
        return {wall["name"]: wall for wall in (await client.get("/readyz")).json()["walls"]}

    files = [
        ("files", ("guide.md", b"# Guide\n\nThe billing router retries three times.\n\n## Limits\n\nTen per second.")),
        ("files", ("broken.pdf", b"%PDF-1.7\nthis is not a PDF\n%%EOF")),
        ("files", ("main.py", b'"""Starts the router."""\n\n\ndef main() -> None:\n    print("started")\n')),
    ]
    answer = await client.post("/v1/documents", files=files)
    ids = [one["document"]["id"] for one in answer.json()["files"]]
    settled = [
        (await client.get(f"/v1/documents/{one}", params={"wait": "searchable", "timeout": 200})).json() for one in ids
    ]
    assert [one["status"] for one in settled] == ["searchable", "failed", "searchable"], workers.log.read_text()
    assert (settled[0]["title"], settled[0]["chunk_count"] >= 1) == ("Guide", True)
    assert settled[1]["explanation"].startswith("Failed to convert: ")
    walls = await eventually(reported)  # reported with the first heartbeat after they are known
    assert {"environment", "network", "files", "system-calls"} <= walls.keys()
    assert walls["environment"]["active"]
    assert all(wall["detail"] for wall in walls.values())
    assert workers.is_healthy()
    worker.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(worker.wait, 200) == 0
    assert not workers.is_healthy()


@pytest.mark.timeout(900)
async def test_a_killed_worker_leaves_nothing_stuck_or_duplicated(
    workers: Any,
    upload: Entry,
    neighbours: Any,
    detail: Detail,
    eventually: Any,
    object_store: ObjectStore,
    workspace_id: UUID,
) -> None:
    with workers.started() as first:
        document_id = (await upload("slow.html", SLOW.encode()))["document"]["id"]
        await eventually(lambda: detail(document_id), lambda now: now["stages"][1]["status"] == "running")
        family = psutil.Process(first.pid).children(recursive=True)
        first.kill()
        assert psutil.wait_procs(family, 240)[1] == []
        with workers.started():
            state = await eventually(
                lambda: detail(document_id), lambda now: now["status"] != "processing", seconds=200
            )
    assert state["status"] == "searchable", (state, workers.log.read_text()[-3000:])
    assert state["stages"][1]["attempts"] == 2
    reported = [event for group, event in neighbours.seen if group == "retrieval"]
    assert len(reported) == 1
    assert len(object_store.keys(derived_prefix(workspace_id, UUID(document_id)))) == 3


async def test_a_stopped_worker_requeues_its_document(
    workers: Any, upload: Entry, detail: Detail, eventually: Any
) -> None:
    with workers.started() as process:
        document_id = (await upload("slow.html", SLOW.encode()))["document"]["id"]
        await eventually(lambda: detail(document_id), lambda now: now["stages"][1]["status"] == "running")
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 200) == 0
        state = await detail(document_id)
    assert state["stages"][1]["status"] == "queued", workers.log.read_text()[-3000:]
    assert state["stages"][1]["error_class"] is None


async def test_a_worker_that_is_scaled_in_ends_its_document(
    workers: Any, neighbours: Any, upload: Entry, detail: Detail, eventually: Any
) -> None:
    assert neighbours
    with workers.started(WORKER_SHUTDOWN_SECONDS="240") as process:
        document_id = (await upload("slow.html", SLOW.encode()))["document"]["id"]
        await eventually(lambda: detail(document_id), lambda now: now["stages"][1]["status"] == "running")
        process.send_signal(signal.SIGTERM)
        late = (await upload("late.html", b"<p>It comes after the worker was asked to end.</p>"))["document"]["id"]
        assert await asyncio.to_thread(process.wait, 240) == 0
        ended, waiting = await detail(document_id), await detail(late)
    # Converted, chunked and embedded, each at the first attempt.
    assert [(stage["status"], stage["attempts"]) for stage in ended["stages"][1:4]] == [("succeeded", 1)] * 3
    assert waiting["stages"][1]["status"] == "queued", workers.log.read_text()[-3000:]
