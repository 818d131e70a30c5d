"""Sends a caller's request to a service and streams the response back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from starlette.requests import Request
from starlette.types import Send

from gateway.client_address import client_address
from gateway.errors import UpstreamRefused, UpstreamTimeout, UpstreamUnreachable
from gateway.proxy import headers
from gateway.proxy.incoming_body import IncomingBody
from gateway.proxy.routing import Prefix
from gateway.proxy.upstreams import Upstreams
from service_kit.replicas import REPEATABLE
from service_kit.tracing import outgoing_headers

log = logging.getLogger(__name__)
PAUSE_SECONDS = 0.2
IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")  # RFC 9110, section 9.2.2


class UpstreamRequest:
    """`started`: the response to the caller has begun. `cut`: the service broke off its response after that."""

    def __init__(
        self, upstreams: Upstreams, request: Request, prefix: Prefix, token: str, body: IncomingBody, send: Send
    ) -> None:
        self.upstreams, self.request, self.service, self.token = upstreams, request, prefix.service, token
        self.searches, self.body, self.send = prefix.searches, body, send
        self.started = self.cut = False

    async def run(self) -> None:
        """Raises UpstreamUnreachable, UpstreamTimeout or UpstreamRefused, only before the response has begun."""
        response = await self._open()
        self.body.ended.set()  # the service does not want the rest of the body
        try:
            await self._pass_on(response)
        finally:
            await response.aclose()

    async def _open(self) -> httpx2.Response:
        """Returns the response once its headers are there; the time limit starts at the end of the request's body."""
        try:
            async with _answer_within(self.upstreams.first_byte, self.body.ended):
                response = await self._send()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise UpstreamTimeout(f"{self.service} did not answer in time", service=self.service) from error
        except httpx2.TransportError as error:
            raise UpstreamUnreachable(f"{self.service} cannot be reached", service=self.service) from error
        if response.status_code == 401:
            await response.aclose()
            log.error(
                "a service rejects the gateway's token: is the key in its TOKEN_PUBLIC_KEYS, and do the clocks agree?",
                extra={"to": self.service},
            )
            raise UpstreamRefused(f"{self.service} does not accept the gateway's token", service=self.service)
        return response

    async def _send(self) -> httpx2.Response:
        request = self._outgoing()
        try:
            return await self.upstreams.client.send(request, stream=True)
        except (httpx2.RemoteProtocolError, httpx2.NetworkError):
            if not request.extensions[REPEATABLE]:
                raise
            await asyncio.sleep(PAUSE_SECONDS)  # every replica refused, or the only one is restarting
            return await self.upstreams.client.send(request, stream=True)

    def _is_repeatable(self, content: bytes | None) -> bool:
        """Returns whether the request may reach the service twice, and its body is here to be sent twice.

        After a change, `If-Match` would not fit any more.
        """
        asked = self.request
        safe = asked.method in IDEMPOTENT or "idempotency-key" in asked.headers or self.searches
        return content is not None and safe and "if-match" not in asked.headers

    def _outgoing(self) -> httpx2.Request:
        scope = self.request.scope
        own = {
            "Authorization": f"Bearer {self.token}",
            "X-Forwarded-For": client_address(self.request),
            "X-Forwarded-Proto": scope["scheme"],
            "X-Forwarded-Host": self.request.headers.get("host", ""),
        }
        content = self.body.complete
        return httpx2.Request(
            scope["method"],
            self.upstreams.url(self.service, scope["raw_path"], scope["query_string"]),
            headers=headers.for_service(self.request.headers.raw, own | outgoing_headers()),
            content=self.body.chunks() if content is None else content or None,
            extensions={"timeout": self.upstreams.timeout.as_dict(), REPEATABLE: self._is_repeatable(content)},
        )

    async def _pass_on(self, response: httpx2.Response) -> None:
        passed = headers.for_caller(response.headers.raw, self.upstreams.bases[self.service])
        self.started = True
        await self.send({"type": "http.response.start", "status": response.status_code, "headers": passed})
        endless = response.headers.get("content-type", "").startswith("text/event-stream")
        try:
            async for chunk in _chunks(response, None if endless else self.upstreams.first_byte):
                await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
        except (TimeoutError, httpx2.TransportError) as error:
            # the server then closes the connection without ending the response, so clients see that it is incomplete
            self.cut = True
            log.warning("a service aborted its response", extra={"from": self.service, "error": repr(error)})
            return
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})


@asynccontextmanager
async def _answer_within(seconds: float, sent: asyncio.Event) -> AsyncIterator[None]:
    """Raises TimeoutError if the block takes longer than `seconds` after the event."""
    async with asyncio.timeout(None) as deadline:

        async def start() -> None:
            await sent.wait()
            deadline.reschedule(asyncio.get_running_loop().time() + seconds)

        if sent.is_set():
            await start()
            yield
            return
        starting = asyncio.create_task(start())
        try:
            yield
        finally:
            starting.cancel()


async def _chunks(response: httpx2.Response, pause: float | None) -> AsyncIterator[bytes]:
    """Yields the body as it arrives, undecoded. Raises TimeoutError if nothing comes for `pause` seconds."""
    chunks = response.aiter_raw()
    while True:
        try:
            async with asyncio.timeout(pause):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        yield chunk
