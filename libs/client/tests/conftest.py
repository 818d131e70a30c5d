"""A real HTTP server on this machine whose answers the tests define."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from json import loads
from typing import Any
from uuid import UUID

import httpx2
import pytest
import uvicorn
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from typer.main import get_command
from typer.testing import CliRunner

from attractor_client import RetryPolicy
from attractor_client.cli import app

NOW = "2026-03-01T10:00:00Z"
RUN = UUID(int=7)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
COMMAND = get_command(app)
CERTIFICATES = httpx2.create_ssl_context()


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


Answer = Response | Callable[[Received], Response | Awaitable[Response]]


@dataclass
class Server:
    """`on` queues answers for a route; the last one is repeated. `received` has the requests, in order."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    answers: dict[tuple[str, str], list[Answer]] = field(default_factory=lambda: defaultdict(list))

    def on(self, method: str, path: str, *answers: Answer | Any) -> None:
        """Defines the answers: each is a response, a function of the request, or the JSON body of a 200."""
        given = [one if isinstance(one, Response) or callable(one) else json(one) for one in answers]
        self.answers[method, path] = given

    def calls(self, method: str, path: str) -> list[Received]:
        return [one for one in self.received if (one.method, one.path) == (method, path)]

    async def __call__(self, request: Request) -> Response:
        received = Received(
            request.method,
            request.scope["path"],
            dict(request.query_params),
            dict(request.headers),
            await request.body(),
        )
        self.received.append(received)
        queue = self.answers.get((received.method, received.path))
        if not queue:
            return problem(404, "not-found", "There is no such resource in this workspace")
        answer = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(answer, Response):
            return Response(answer.body, answer.status_code, dict(answer.headers), answer.media_type)
        made = answer(received)
        return await made if asyncio.iscoroutine(made) else made


def json(value: Any, status: int = 200) -> Response:
    return Response(to_json(value), status, media_type="application/json")


def problem(status: int, slug: str, title: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    body = {"type": slug, "title": title, "status": status, **more}
    return Response(to_json(body), status, headers, media_type="application/problem+json")


def events(*parts: tuple[str, Any], cut: bool = False, after: int = 0) -> Callable[[Received], Response]:
    """Returns a stream of (name, data) with ids 1-1, 1-2, ... after `after`; with `cut` the connection breaks."""

    async def body() -> AsyncIterator[bytes]:
        yield b": still here\n\n"
        for number, (name, data) in enumerate(parts, after + 1):
            yield f"id: 1-{number}\nevent: {name}\n".encode() + b"data: " + to_json(data) + b"\n\n"
        if cut:
            raise ConnectionResetError

    return lambda _: StreamingResponse(body(), media_type="text/event-stream")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # Each client would read all certificates, none of which it needs here.
    monkeypatch.setattr("httpx2._transports.default.create_ssl_context", lambda **_: CERTIFICATES)
    scripted = Server()
    app = Starlette(routes=[Route("/{path:path}", scripted.__call__, methods=METHODS)])
    listening = socket.create_server(("127.0.0.1", 0))
    scripted.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = uvicorn.Config(app, lifespan="off", ws="none", log_level="critical", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield scripted
    running.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture
def nowhere(unused_port: int) -> str:
    """Returns a URL where nothing listens."""
    return f"http://127.0.0.1:{unused_port}"


class Samples:
    """Sample bodies as the services send them."""

    @staticmethod
    def document(number: int = 1, **changes: Any) -> dict[str, Any]:
        return {
            "id": str(UUID(int=number)),
            "workspace_id": str(UUID(int=99)),
            "name": f"note-{number}.md",
            "title": None,
            "media_type": "text/markdown",
            "file_size": 5,
            "content_hash": hashlib.sha256(b"hello").hexdigest(),
            "status": "searchable",
            "version": 1,
            "searchable_version": 1,
            "embedding_status": "complete",
            "source_type": "upload",
            "tags": ["auth"],
            "authors": [],
            "chunk_count": 1,
            "created_at": NOW,
            "updated_at": NOW,
            "indexed_at": NOW,
            **dict.fromkeys(("pages", "engine", "language", "written_at", "modified_at", "stale_at")),
            **dict.fromkeys(("source_id", "source_name", "source_path", "source_uri")),
            **changes,
        }

    @staticmethod
    def detail(number: int = 1, **changes: Any) -> dict[str, Any]:
        empty: dict[str, Any] = {"stages": [], "headings": [], "origins": [], "explanation": None}
        return Samples.document(number, **{**empty, **changes})

    @staticmethod
    def stage(**changes: Any) -> dict[str, Any]:
        times = ("queued_at", "started_at", "heartbeat_at", "finished_at", "next_attempt_at", "seconds")
        none = dict.fromkeys((*times, "page", "pages", "worker", "error_class", "error_message"))
        return {"name": "embed", "status": "running", "lane": "interactive", "attempts": 1, **none, **changes}

    @staticmethod
    def chunk(index: int = 0) -> dict[str, Any]:
        content = {"content": f"Passage {index}.", "token_count": 9, "heading_path": ["Keys"]}
        return {"chunk_id": f"c{index}", "document_id": str(UUID(int=1)), "chunk_index": index, **content}

    @staticmethod
    def version(number: int = 1) -> dict[str, Any]:
        none = dict.fromkeys(("title", "pages", "engine", "indexed_at", "superseded_at"))
        base = {"name": "note-1.md", "file_size": 5, "content_hash": "0" * 64, "chunk_count": 3, "created_at": NOW}
        return {"version": number, **none, **base}

    @staticmethod
    def summary(**changes: Any) -> dict[str, Any]:
        base = {"total": 3, "by_status": {"searchable": 3}, "by_stage": {}, "embedding_failed": 0, "failures": {}}
        return {**base, "queued_bytes": 0, "done_last_minute": 2, "seconds_left": None, **changes}

    @staticmethod
    def sync(**changes: Any) -> dict[str, Any]:
        counts = dict.fromkeys(("seen", "changed", "removed", "unchanged", "refused", "excluded", "bytes"), 0)
        times = dict.fromkeys(("started_at", "heartbeat_at", "finished_at", "worker", "error_class", "error_message"))
        base = {"id": str(UUID(int=21)), "source_id": str(UUID(int=20)), "status": "succeeded", "trigger": "request"}
        return {**base, "dry_run": False, **counts, "added": 4, "attempts": 1, "created_at": NOW, **times, **changes}

    @staticmethod
    def source(**changes: Any) -> dict[str, Any]:
        base = {
            "id": str(UUID(int=20)),
            "name": "Handbook",
            "config": {"kind": "folder", "path": "/documents/handbook"},
        }
        plan = {"every_seconds": None, "on_removed": "delete", "stale_after_seconds": None, "paused": False}
        times = {"version": 3, "created_at": NOW, "updated_at": NOW, "next_sync_at": None}
        return {**base, **plan, **times, "documents": 4, "last_sync": Samples.sync(), **changes}

    @staticmethod
    def space(**changes: Any) -> dict[str, Any]:
        base = {"id": "minilm-384", "model": "minilm", "dims": 384, "status": "active", "configured": True}
        counts = {"activate": True, "vectors": 7, "chunks": 7, "seconds_left": None}
        return {
            **base,
            **counts,
            **dict.fromkeys(("created_at", "activated_at", "error_class", "error_message")),
            **changes,
        }

    @staticmethod
    def session(**changes: Any) -> dict[str, Any]:
        return {"id": str(UUID(int=5)), "title": "T", "created_at": NOW, "updated_at": NOW, "version": 3, **changes}

    @staticmethod
    def run() -> dict[str, Any]:
        none = dict.fromkeys(("mode", "error_type", "error_message", "started_at", "finished_at"))
        rest = {"status": "queued", "attempts": 0, "node_trace": [], "issues": [], "created_at": NOW}
        return {"id": str(RUN), "session_id": str(UUID(int=5)), **none, **rest}

    @staticmethod
    def message(number: int, **changes: Any) -> dict[str, Any]:
        base = {"id": str(UUID(int=number)), "session_id": str(UUID(int=5)), "run_id": str(RUN), "role": "user"}
        return {**base, "content": f"Message {number}", "created_at": NOW, **changes}

    @staticmethod
    def completed(content: str = "Hello world") -> tuple[str, dict[str, Any]]:
        data = {"run_id": str(RUN), "message_id": str(UUID(int=8)), "mode": "extractive", "content": content}
        return "run_completed", {**data, "citations": [], "removed_citations": 0}

    @staticmethod
    def caller() -> dict[str, Any]:
        user = {"id": str(UUID(int=2)), "name": "Ada", "is_admin": True, "created_at": NOW}
        workspace = {"id": str(UUID(int=99)), "name": "Default", "created_at": NOW}
        return {"user": user, "workspace": workspace, "role": "owner", "key_id": str(UUID(int=3))}

    @staticmethod
    def citation(**changes: Any) -> dict[str, Any]:
        place = {"section": "Keys", "page": None, "line_start": 10, "line_end": 20}
        chunk = {"chunk_id": "c1", "document_id": str(UUID(int=1)), "document_title": None, "start": 0, "end": 9}
        return {"number": 1, **chunk, "document_name": "note-1.md", **place, "quote": "the\nquote", **changes}

    @staticmethod
    def hit(**changes: Any) -> dict[str, Any]:
        nothing = dict.fromkeys(
            ("document_title", "section_title", "page", "page_end", "box", "line_start", "line_end")
        )
        base = {"chunk_id": "c1", "document_id": str(UUID(int=1)), "document_name": "note-1.md", "chunk_index": 0}
        rest = {
            "workspace_id": str(UUID(int=5)),
            "media_type": "text/markdown",
            "score": 0.5,
            "content": "A passage.",
            "heading_path": ["A", "B"],
        }
        return {**nothing, **base, **rest, **changes}

    @staticmethod
    def memory(**changes: Any) -> dict[str, Any]:
        base = {"id": str(UUID(int=4)), "kind": "note", "content": "Frozen until March.", "session_id": None}
        told = {"scope": "user", "said_at": NOW, "said": None, "fact": None, "pinned": False}
        return {**base, **told, "document_ids": [], "created_by": str(UUID(int=2)), "created_at": NOW, **changes}

    @staticmethod
    def key(**changes: Any) -> dict[str, Any]:
        ids = {"id": str(UUID(int=3)), "user_id": str(UUID(int=2)), "workspace_id": str(UUID(int=99))}
        used = {"created_at": NOW, "last_used_at": None, "revoked_at": None}
        return {**ids, "name": "ci", "role": "viewer", **used, **changes}

    @staticmethod
    def invitation(**changes: Any) -> dict[str, Any]:
        ids = {"id": str(UUID(int=6)), "workspace_id": str(UUID(int=99)), "created_by": str(UUID(int=2))}
        closed = dict.fromkeys(("accepted_at", "accepted_by", "revoked_at"))
        who = {"name": "Bob", "note": "bob@example.org", "role": "editor", "status": "open"}
        return {**ids, **who, "created_at": NOW, "expires_at": NOW, **closed, **changes}

    @staticmethod
    def entity(**changes: Any) -> dict[str, Any]:
        base = {"id": "e1", "name": "UserDB", "entity_type": "SERVICE", "mentions": 7, "documents": 3}
        return {**base, "aliases": ["userdb"], **changes}

    @staticmethod
    def receipt(**changes: Any) -> dict[str, Any]:
        removed = {"service": "retrieval", "removed": {"chunks": 3}, "remaining": {"chunks": 0}, "confirmed_at": NOW}
        base = {"document_id": str(UUID(int=1)), "requested_at": NOW, "completed_at": NOW, "pending": []}
        return {**base, "services": [removed], **changes}


@pytest.fixture
def samples() -> type[Samples]:
    return Samples


@pytest.fixture(name="json")
def json_fixture() -> Callable[..., Response]:
    """Returns json(value, status=200), which makes a response."""
    return json


@pytest.fixture(name="problem")
def problem_fixture() -> Callable[..., Response]:
    """Returns problem(status, slug, title, headers, **members), which makes a response."""
    return problem


@pytest.fixture(name="events")
def events_fixture() -> Callable[..., Callable[[Received], Response]]:
    """Returns events((name, data), ..., cut=False, after=0), which makes an answer for `Server.on`."""
    return events


@dataclass(frozen=True)
class Ran:
    """The outcome of a command: `json` is stdout as one JSON document, `lines` as JSON Lines."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [loads(line) for line in self.out.splitlines()]


@pytest.fixture
def settled(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Returns the server, with a known caller, in an environment that points every command to it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setattr("attractor_client.configuration.user_config_path", lambda name: home / name)
    # Otherwise each call builds all commands, which takes longer than most calls themselves.
    monkeypatch.setattr("typer.testing._get_command", lambda _: COMMAND)
    monkeypatch.setenv("ATTRACTOR_URL", server.url)
    monkeypatch.setenv("ATTRACTOR_API_KEY", "key-1")
    monkeypatch.setattr("attractor_client.invocation.AT_THE_PROMPT", RetryPolicy(attempts=2, first=0.01))
    monkeypatch.setattr("attractor_client.invocation.PATIENT", RetryPolicy(attempts=2, first=0.01))
    server.on("GET", "/v1/me", Samples.caller())
    return server


@pytest.fixture
def attractor(settled: Server) -> Callable[..., Ran]:  # noqa: ARG001  the environment is set by then
    """Returns attractor("documents", "list", ...), which runs a command in this process, without a terminal."""

    def call(*arguments: str, stdin: str = "") -> Ran:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return call
