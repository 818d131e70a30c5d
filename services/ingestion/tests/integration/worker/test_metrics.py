"""The metrics of a worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2

Entry = Callable[..., Awaitable[dict[str, Any]]]


async def test_a_worker_reports_its_metrics(
    workers: Any, upload: Entry, client: httpx2.AsyncClient, neighbours: Any, unused_port: int
) -> None:
    assert neighbours
    with workers.started(PRIVATE_PORT=str(unused_port)):
        for name, content in (("a.md", b"# A\n\nText.\n"), ("b.pdf", b"%PDF-1.7\nthis is not a PDF\n%%EOF")):
            document_id = (await upload(name, content))["document"]["id"]
            await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": 150})
        async with httpx2.AsyncClient() as http:
            text = (await http.get(f"http://127.0.0.1:{unused_port}/metrics")).text
    for wanted in (
        'attractor_ingestion_stage_seconds_count{format="md",stage="convert"} 1.0',
        'attractor_ingestion_stage_seconds_count{format="md",stage="embed"} 1.0',
        'attractor_ingestion_failures_total{error_class="corrupt-file",stage="convert"} 1.0',
        'attractor_ingestion_bytes_total{format="md"} 11.0',
        'attractor_ingestion_chunks_total{result="embedded"} 1.0',
        'attractor_ingestion_slots_busy{lane="bulk"} 0.0',
        'attractor_embedding_seconds_count{model="all-MiniLM-L6-v2-onnx-int8",result="succeeded",use="documents"} 1.0',
        'attractor_embedded_texts_total{model="all-MiniLM-L6-v2-onnx-int8",use="documents"} 1.0',
        'attractor_embedding_seconds_count{model="all-MiniLM-L6-v2-onnx-int8",result="failed",use="documents"} 0.0',
    ):
        assert wanted in text
    resident = {
        line.split('"')[1]: float(line.split()[-1])
        for line in text.splitlines()
        if line.startswith("attractor_ingestion_resident_bytes{")
    }
    assert resident["worker"] > 50e6
    assert resident["fork_server"] > 20e6
