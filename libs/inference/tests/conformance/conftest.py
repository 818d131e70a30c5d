"""Real HTTP servers on this machine for the adapters that talk to one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from served_apps import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Serve = Callable[[Starlette], AbstractAsyncContextManager[str]]


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Returns a context manager that serves an app below /v1."""

    @asynccontextmanager
    async def below_v1(app: Starlette) -> AsyncIterator[str]:
        async with serving(app) as url:
            yield f"{url}/v1"

    return below_v1


def said(text: str = "", **delta: str) -> dict[str, Any]:
    """One event of a chat stream."""
    return {"choices": [{"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}]}


STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


@dataclass
class Reply:
    """What the scripted server does with one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    events: list[Any] = field(default_factory=list)
    done: bool = True
    breaks: bool = False
    hangs: bool = False
    # How many bytes of the stream are sent before it ends or breaks.
    cut_at: int | None = None

    def response(self) -> Response:
        if self.body is not None or self.status != 200:
            return JSONResponse(self.body, self.status, self.headers)
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[bytes]:
        left = self.cut_at
        for event in self.events:
            sent = f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()[:left]
            left = None if left is None else left - len(sent)
            yield sent
        if self.breaks:
            raise ConnectionError("scripted")
        if self.hangs:
            await asyncio.Event().wait()
        if self.done:
            yield b"data: [DONE]\n\n"


@dataclass
class ScriptedProvider:
    """Answers from `replies` in order and records the requests."""

    base_url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        self.asked.append(json.loads(await request.body() or b"{}"))
        return self.replies.pop(0).response()


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedProvider]:
    scripted = ScriptedProvider()
    app = Starlette(routes=[Route("/v1/{path:path}", scripted.answer, methods=["GET", "POST"])])
    async with serving(app) as url:
        scripted.base_url = f"{url}/v1"
        yield scripted


@pytest.fixture
def patience(request: pytest.FixtureRequest) -> float:
    """Seconds that a client waits for the next byte: long, except where a test's provider hangs."""
    return getattr(request, "param", 60.0)


@pytest.fixture
def script() -> Any:
    """`Reply`, `said` and `STOP` for the tests (which cannot import their conftest)."""

    class Script:
        reply = Reply
        said = staticmethod(said)
        stop = STOP

    return Script
