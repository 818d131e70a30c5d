"""POST /mcp: the Model Context Protocol over streamable HTTP without sessions, with API keys.

A tool's requests go through the gateway's own routes with the caller's key, so workspace, role, limits and audit are
the same as for any other request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.access.authenticator import Authenticator
from service_kit.auth import bearer
from service_kit.problems import Unavailable

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

START_SECONDS = 10.0


class McpRoute:
    """An ASGI application that serves only while `run` is active. The first request loads the protocol's library."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self.app, self.authenticator = app, authenticator
        self._wanted, self._started = asyncio.Event(), asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None

    async def run(self) -> None:
        """Serves until cancelled; may be called again."""
        await self._wanted.wait()
        session_manager = await asyncio.to_thread(_loaded)
        manager = session_manager(self.app)
        async with manager.run():
            self._manager = manager
            self._started.set()
            try:
                await asyncio.Event().wait()
            finally:
                self._started.clear()
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises Unauthenticated without a valid API key, RateLimited, TooManyInFlight, Unavailable without `run`."""
        request = Request(scope, receive)
        bearer(request)
        caller, request.state.response_headers = await self.authenticator.admit(request)
        with self.authenticator.in_progress(caller, request):
            manager = await self._serving()
            await manager.handle_request(scope, receive, send)

    async def _serving(self) -> StreamableHTTPSessionManager:
        self._wanted.set()
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._started.wait()
        except TimeoutError as error:
            raise Unavailable("the server of the Model Context Protocol is starting") from error
        assert self._manager is not None, "it has started"
        return self._manager


def _loaded() -> Callable[[ASGIApp], StreamableHTTPSessionManager]:
    # Imported here because it takes half a second, and many gateways serve no agent.
    from gateway.mcp.endpoint import session_manager  # noqa: PLC0415

    return session_manager
