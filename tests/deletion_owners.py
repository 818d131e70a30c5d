"""A stand-in for the gateway, ingestion and the orchestrator, which confirm deletions before data is erased; ingestion
also counts the documents that the graph lacks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from contracts.ingestion import UNGRAPHED_PATH
from service_kit.owners import DOCUMENTS_PATH, SESSION_USERS_PATH, SESSIONS_PATH, WORKSPACE_PATH


class DeletionOwners:
    """Confirms every deletion while `confirms`; responds with 503 while `is_away`. `asked` collects the paths.

    `users` maps sessions to their users. `ungraphed` is what the graph lacks.
    """

    def __init__(self, url: str) -> None:
        self.url, self.confirms, self.is_away, self.asked = url, True, False, list[str]()
        self.users: dict[str, str] = {}
        self.ungraphed = 0

    @property
    def settings(self) -> dict[str, str]:
        """Returns the settings of a service that asks about workspaces and documents."""
        return {"gateway_url": self.url, "ingestion_url": self.url}

    def answer(self, path: str, body: Any) -> dict[str, Any] | None:
        self.asked.append(path)
        if self.is_away:
            return None
        if path == WORKSPACE_PATH:
            return {"is_deleted": self.confirms}
        if path == UNGRAPHED_PATH:
            return {"documents": self.ungraphed}
        if path == SESSION_USERS_PATH:
            return {"users": {one: self.users[one] for one in body["session_ids"] if one in self.users}}
        if path == SESSIONS_PATH:
            return {"deleted": body["session_ids"] if self.confirms else []}
        assert path == DOCUMENTS_PATH
        return {"deleted": body["document_ids"] if self.confirms else []}

    @classmethod
    @contextmanager
    def serving(cls) -> Iterator[DeletionOwners]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._respond(None)

            def do_POST(self) -> None:
                self._respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _respond(self, body: Any) -> None:
                answer = owners.answer(self.path, body)
                content = json.dumps(answer).encode()
                self.send_response(200 if answer is not None else 503)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None: ...

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads = True
            owners = cls(f"http://127.0.0.1:{server.server_port}")
            thread = threading.Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            yield owners
            server.shutdown()
            thread.join()
