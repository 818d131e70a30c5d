"""Server-sent events (HTML Living Standard, 9.2): ids allow resuming, comments keep a connection open."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse

HEARTBEAT = b": still here\n\n"


def event_stream(events: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> StreamingResponse:
    """Returns server-sent events, with headers that keep proxies from buffering them."""
    return StreamingResponse(
        events,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(headers or {})},
    )


def formatted(event_id: str, name: str, data: str) -> bytes:
    """Returns one event; `data` has no line break."""
    return f"id: {event_id}\nevent: {name}\ndata: {data}\n\n".encode()
