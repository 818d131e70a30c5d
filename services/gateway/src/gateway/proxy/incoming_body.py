"""The caller's body as a stream, and detection of the caller's disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive


class IncomingBody:
    """Reads the body of a request. `ended` is set when it is complete or no longer needed."""

    def __init__(self, receive: Receive) -> None:
        self.receive, self.ended = receive, asyncio.Event()
        self.first: Message = {}

    async def start(self) -> None:
        """Reads the first piece, so that a refused body never reaches a service."""
        self.first = await self._next()

    async def whole(self) -> bytes:
        """Reads the rest of the body and returns the whole body, which `chunks` then yields in one piece."""
        pieces = [self.first.get("body", b"")]
        while not self.ended.is_set():
            pieces.append((await self._next()).get("body", b""))
        body = b"".join(pieces)
        self.first = {**self.first, "body": body}
        return body

    @property
    def complete(self) -> bytes | None:
        """Returns the body if all of it is here, so that it can be sent more than once."""
        return self.first.get("body", b"") if self.ended.is_set() else None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yields the body as it arrives. Raises ClientDisconnect if the caller disconnects before its end."""
        yield self.first.get("body", b"")
        while not self.ended.is_set():
            yield (await self._next()).get("body", b"")

    async def caller_left(self) -> None:
        """Returns when the caller disconnects after sending the body, which only `receive` reports."""
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
