"""Headers of every response: protection against misuse by browsers, and the state of the caller's rate limit."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing that this origin serves may run, be framed or be sniffed into something else, not even uploaded HTML
PROTECTION = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "cache-control": "no-store",
}
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Routes may set these themselves; all others override what a service sends
CHOOSABLE = frozenset({"cache-control"})


class ResponseHeaders:
    """ASGI middleware. A route adds headers, or replaces some, through `request.state.response_headers`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["response_headers"] = {}

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in PROTECTION.items():
                    if name not in CHOOSABLE or name not in headers:
                        headers[name] = value
                headers.update(state["response_headers"])
            await send(message)

        await self.app(scope, receive, protected)
