"""Refuses requests for host names other than this deployment's, unless they carry a key, which no web page has."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import HostNotAllowed
from gateway.signin.origins import WebOrigins
from service_kit.problem_handlers import on_problem

PROBES = frozenset({"/livez", "/readyz", "/metrics"})  # orchestrators ask by address


class HostCheck:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, origins: WebOrigins) -> None:
        self.app, self.origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in PROBES:
            request = Request(scope)
            if "authorization" not in request.headers and not self.origins.names_this(request):
                refused = await on_problem(request, HostNotAllowed())
                await refused(scope, receive, send)
                return
        await self.app(scope, receive, send)
