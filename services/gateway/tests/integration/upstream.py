"""A small real service, for the gateway to stand in front of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

from service_kit.routes import add_routes


@dataclass
class Seen:
    """What the service notices, and when it may go on."""

    requests: int = 0
    waiting: int = 0
    authorization: str = ""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def count(self, change: int) -> None:
        async with self.changed:
            self.waiting += change
            self.changed.notify_all()

    async def until_waiting(self, count: int) -> None:
        """Returns when so many requests wait."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.waiting == count)


router = APIRouter()


def service(seen: Seen) -> FastAPI:
    app = FastAPI()
    app.state.seen = seen
    add_routes(app, router)
    return app


@router.get("/readyz")
async def readyz() -> dict[str, str]:
    return {"status": "ready", "version": "9.1.0", "schema_version": "0099_newest"}


@router.get("/v1/documents/echo")
@router.get("/v1/documents/echo/{rest:path}")
@router.get("/v1/models/{rest:path}")
async def echo(request: Request) -> dict[str, Any]:
    raw_path = request.scope["raw_path"].decode()
    return {"headers": dict(request.headers), "path": raw_path, "query": request.url.query}


@router.post("/v1/documents")
async def upload(request: Request) -> dict[str, int]:
    request.app.state.seen.requests += 1
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
    return {"size": size}


@router.post("/v1/search")
async def search(request: Request) -> dict[str, int]:
    request.app.state.seen.requests += 1
    request.app.state.seen.authorization = request.headers["authorization"]
    return {"size": len(await request.body())}


@router.get("/v1/sessions")
@router.post("/v1/sessions")
async def sessions(request: Request) -> None:
    request.app.state.seen.authorization = request.headers["authorization"]


@router.get("/v1/runs/events")
async def events(request: Request) -> StreamingResponse:
    seen: Seen = request.app.state.seen

    async def stream() -> AsyncIterator[bytes]:
        try:
            yield b"id: 1\ndata: first\n\n"
            await seen.released.wait()
            yield b"id: 2\ndata: second\n\n"
            await asyncio.Event().wait()
        finally:
            seen.cancelled.set()

    return StreamingResponse(stream(), media_type="text/event-stream")


@router.get("/v1/runs/slow")
async def slow(request: Request) -> None:
    seen: Seen = request.app.state.seen
    seen.reached.set()
    await seen.count(1)
    while (await request.receive())["type"] != "http.disconnect":
        pass
    await seen.count(-1)
    seen.cancelled.set()


@router.get("/v1/runs/half")
async def half() -> StreamingResponse:
    async def stream() -> AsyncIterator[bytes]:
        yield b"begun"
        await asyncio.sleep(0.05)
        raise ConnectionAbortedError

    return StreamingResponse(stream())


@router.get("/v1/memories/refuses")
async def refuses() -> JSONResponse:
    return JSONResponse({}, 401)


@router.get("/v1/memories/problem")
async def problem() -> JSONResponse:
    body = {"type": "stale-version", "title": "t", "status": 412}
    return JSONResponse(body, 412, {"ETag": '"4"'}, "application/problem+json")
