"""The server of the Model Context Protocol, whose library `route` loads when it is first asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp

from attractor_client import AttractorClient, RetryPolicy
from attractor_client.mcp.server import Context, McpEndpoint
from service_kit.auth import bearer

HERE = "http://localhost"  # a host that every deployment allows; nothing leaves the process
ANSWER_SECONDS = 60.0


def session_manager(app: ASGIApp) -> StreamableHTTPSessionManager:
    """Returns the protocol's server, whose tools send their requests to `app`."""

    @asynccontextmanager
    async def client(context: Context) -> AsyncIterator[AttractorClient]:
        """Opens a client of this process with the request's key and address."""
        http_request: Request | None = context.request
        assert http_request is not None, "the transport is HTTP"
        host = (http_request.client.host, http_request.client.port) if http_request.client else ("127.0.0.1", 0)
        carrier = httpx2.ASGITransport(app, client=host)
        async with AttractorClient(
            HERE, bearer(http_request), timeout=ANSWER_SECONDS, retry=RetryPolicy(attempts=1), carrier=carrier
        ) as opened:
            yield opened

    return StreamableHTTPSessionManager(McpEndpoint(client).server(), stateless=True, json_response=True)
