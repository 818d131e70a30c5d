"""Serves scripted routes in a thread of this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


@contextmanager
def serving(routes: Sequence[Route]) -> Iterator[str]:
    """Serves on a free port; yields the URL of its root."""
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", ws="none"))
    # asyncio sets TCP_NODELAY only for a named protocol; without it, a delay of 40 ms would flatter our own figure.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
