"""The caller's body as a stream, and the caller's going away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive


class IncomingBody:
    """`ended` is set when there is no more of the body to wait for."""

    def __init__(self, receive: Receive) -> None:
        self.receive, self.ended = receive, asyncio.Event()
        self.first: Message = {}

    async def start(self) -> None:
        """Reads the first chunk, so that a body that is refused never reaches a service."""
        self.first = await self._next()

    @property
    def is_empty(self) -> bool:
        return self.ended.is_set() and not self.first.get("body")

    async def chunks(self) -> AsyncIterator[bytes]:
        """Raises ClientDisconnect when the caller leaves before the end."""
        yield self.first.get("body", b"")
        while not self.ended.is_set():
            yield (await self._next()).get("body", b"")

    async def caller_left(self) -> None:
        """Returns when the caller closes the connection after the body: nothing but `receive` tells."""
        await self.ended.wait()
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _next(self) -> Message:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if not message.get("more_body", False):
            self.ended.set()
        return message
