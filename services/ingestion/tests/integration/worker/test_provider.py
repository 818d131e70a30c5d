"""An embedding provider that is down and comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest

Entry = Callable[..., Awaitable[dict[str, Any]]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


class Provider(BaseHTTPRequestHandler):
    """Returns 503 until `server.works` is set, then embeddings of two dimensions."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        works = self.server.works.is_set()  # type: ignore[attr-defined]
        items = [{"index": index, "embedding": [1.0, 0.0]} for index in range(len(body["input"]))]
        answer = json.dumps({"data": items} if works else {"error": "down"}).encode()
        self.send_response(200 if works else 503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def provider() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        server.works = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_a_document_is_found_lexically_during_a_provider_outage_and_semantically_afterwards(
    workers: Any,
    provider: Any,
    upload: Entry,
    client: httpx2.AsyncClient,
    detail: Detail,
    neighbours: Any,
    eventually: Any,
) -> None:
    settings = {
        "EMBEDDING_BACKEND": "openai",
        "EMBEDDING_BASE_URL": f"http://127.0.0.1:{provider.server_port}/v1",
        "EMBEDDING_MODEL": "two",
        "EMBEDDING_DIMS": "2",
    }
    with workers.started(**settings):
        document_id = (await upload("a.md", b"# A\n\nText.\n"))["document"]["id"]
        answer = await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": 150})
        state = answer.json()
        assert (state["status"], state["embedding_status"]) == ("searchable", "failed"), workers.log.read_text()[-3000:]
        embed = state["stages"][3]
        assert (embed["status"], embed["error_class"]) in {("queued", "embedding-unavailable"), ("running", None)}
        provider.works.set()
        state = await eventually(lambda: detail(document_id), lambda now: now["embedding_status"] == "complete")
    assert state["status"] == "searchable"
    vectors = [event.data["vectors_key"] is not None for group, event in neighbours.seen if group == "retrieval"]
    assert vectors == [False, True]
