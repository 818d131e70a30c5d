"""POST /mcp: the Model Context Protocol over streamable HTTP without sessions, with API keys.

A tool's requests go through the gateway's own routes with the caller's key, so workspace, role, limits and audit are
the same as for any other request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from attractor_client import AttractorClient, RetryPolicy
from attractor_client.mcp.server import Context, McpEndpoint
from gateway.access.authenticator import Authenticator
from service_kit.auth import bearer
from service_kit.problems import Unavailable

HERE = "http://localhost"  # a host that every deployment allows; nothing leaves the process
ANSWER_SECONDS = 60.0


class McpRoute:
    """An ASGI application that serves only while `run` is active."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self.app, self.authenticator = app, authenticator
        self._manager: StreamableHTTPSessionManager | None = None

    async def run(self) -> None:
        """Serves until cancelled; may be called again."""
        manager = StreamableHTTPSessionManager(McpEndpoint(self.client).server(), stateless=True, json_response=True)
        async with manager.run():
            self._manager = manager
            try:
                await asyncio.Event().wait()
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises Unauthenticated without a valid API key, RateLimited, TooManyInFlight, Unavailable before `run`."""
        if self._manager is None:
            raise Unavailable("the server of the Model Context Protocol is starting")
        request = Request(scope, receive)
        bearer(request)
        caller, request.state.response_headers = await self.authenticator.admit(request)
        with self.authenticator.in_progress(caller, request):
            await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def client(self, context: Context) -> AsyncIterator[AttractorClient]:
        """Opens a client of this process with the request's key and address."""
        http_request: Request | None = context.request
        assert http_request is not None, "the transport is HTTP"
        host = (http_request.client.host, http_request.client.port) if http_request.client else ("127.0.0.1", 0)
        carrier = httpx2.ASGITransport(self.app, client=host)
        async with AttractorClient(
            HERE, bearer(http_request), timeout=ANSWER_SECONDS, retry=RetryPolicy(attempts=1), carrier=carrier
        ) as client:
            yield client
