"""Interactive work is processed alongside a bulk load."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import psycopg

Entry = Callable[..., Awaitable[dict[str, Any]]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]
# Its conversion takes several times as long as an upload from start to end, so it is not over before the test is.
SLOW = "".join(f"<h2>Section {index}</h2><p>Paragraph number {index} of a long page.</p>\n" for index in range(12_000))


def to_bulk(database: Any) -> None:
    with psycopg.connect(database.admin) as connection:
        connection.execute("UPDATE ingestion.document_stage SET lane = 'bulk'")


async def test_an_upload_is_processed_while_bulk_work_fills_every_slot(
    workers: Any,
    upload: Entry,
    detail: Detail,
    eventually: Any,
    neighbours: Any,
    client: httpx2.AsyncClient,
    database: Any,
) -> None:
    assert neighbours
    slow = [(await upload(f"slow {number}.html", f"{number}{SLOW}".encode()))["document"]["id"] for number in range(3)]
    to_bulk(database)

    async def running() -> int:
        states = [await detail(one) for one in slow]
        return sum(one["stages"][1]["status"] == "running" for one in states)

    with workers.started(WORKER_CONCURRENCY="1", CONVERT_THREADS="1"):
        await eventually(running, lambda count: count == 1)
        quick = (await upload("quick.md", b"# Quick\n\nA user waits for this.\n"))["document"]["id"]
        answer = await client.get(f"/v1/documents/{quick}", params={"wait": "searchable", "timeout": 150})
        assert answer.json()["status"] == "searchable", workers.log.read_text()[-3000:]
        states = [await detail(one) for one in slow]
        # One bulk document is still running, and no second one was started.
        assert [one["stages"][1]["status"] for one in states].count("running") == 1
        assert [one["status"] for one in states] == ["processing"] * 3
