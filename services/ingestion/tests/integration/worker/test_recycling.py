"""A worker that has done its number executes itself anew, and nobody notices."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import psutil
import psycopg

Entry = Callable[..., Awaitable[dict[str, Any]]]


def lines(workers: Any, message: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in workers.log.read_text().splitlines() if line.startswith("{")]
    return [one for one in found if one["message"] == message]


async def test_after_its_number_of_documents_a_worker_begins_anew_in_the_same_process(
    workers: Any, upload: Entry, client: httpx2.AsyncClient, neighbours: Any, eventually: Any, database: Any
) -> None:
    with workers.started(WORKER_MAX_DOCUMENTS="4", WORKER_CONCURRENCY="1") as process:
        ids = [(await upload(f"{number}.md"))["document"]["id"] for number in range(14)]
        for one in ids:
            answer = await client.get(f"/v1/documents/{one}", params={"wait": "searchable", "timeout": 60})
            assert answer.json()["status"] == "searchable", workers.log.read_text()[-3000:]
            assert workers.health() == 0
            assert [stage["attempts"] for stage in answer.json()["stages"]][1:4] == [1, 1, 1]
        assert len(lines(workers, "recycling")) >= 2, workers.log.read_text()[-3000:]
        assert process.poll() is None
        children = psutil.Process(process.pid).children(recursive=True)
        assert psutil.STATUS_ZOMBIE not in {child.status() for child in children}

        async def registered() -> list[tuple[int, int]]:
            with psycopg.connect(database.admin) as connection:
                return connection.execute("SELECT slots, documents FROM ingestion.worker").fetchall()

        workers_now = await eventually(registered, lambda rows: rows[0][0] == 1, timeout=30)
        assert len(workers_now) == 1
        assert workers_now[0][1] <= 5
    told = [event.data["document_id"] for group, event in neighbours.seen if group == "retrieval"]
    assert set(told) == set(ids)


async def test_a_worker_tells_what_it_does(
    workers: Any, upload: Entry, client: httpx2.AsyncClient, neighbours: Any, free_port: int
) -> None:
    assert neighbours
    with workers.started(METRICS_PORT=str(free_port)):
        for name, content in (("a.md", b"# A\n\nText.\n"), ("b.pdf", b"%PDF-1.7\nthis is not a PDF\n%%EOF")):
            document_id = (await upload(name, content))["document"]["id"]
            await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": 60})
        async with httpx2.AsyncClient() as http:
            text = (await http.get(f"http://127.0.0.1:{free_port}/metrics")).text
    for wanted in (
        'attractor_ingestion_stage_seconds_count{format="md",stage="convert"} 1.0',
        'attractor_ingestion_stage_seconds_count{format="md",stage="embed"} 1.0',
        'attractor_ingestion_failures_total{error_class="corrupt-file",stage="convert"} 1.0',
        'attractor_ingestion_bytes_total{format="md"} 11.0',
        'attractor_ingestion_chunks_total{result="embedded"} 1.0',
        'attractor_ingestion_slots_busy{lane="bulk"} 0.0',
    ):
        assert wanted in text
    resident = {
        line.split('"')[1]: float(line.split()[-1])
        for line in text.splitlines()
        if line.startswith("attractor_ingestion_resident_bytes{")
    }
    assert resident["worker"] > 50e6
    assert resident["fork_server"] > 20e6
