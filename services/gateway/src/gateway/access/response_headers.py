"""Headers of every response: protection in browsers, and the state of the caller's rate limit."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing that this origin serves, not even uploaded HTML, may run, be framed, or be sniffed as another type
PROTECTION = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), "
    "publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STRICT_TRANSPORT = "max-age=31536000"
# For the gateway's own pages: no inline script or style, and no text that silently becomes HTML or script
PAGE_POLICY = (
    "default-src 'self'; object-src 'none'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; "
    "frame-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
# Swagger UI writes HTML itself, so it cannot require trusted types
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Routes may set these themselves; all others override what a service sends
CHOOSABLE = frozenset({"cache-control"})


class ResponseHeaders:
    """ASGI middleware. A route adds headers, or replaces some, through `request.state.response_headers`.

    `by_tls`: users reach the deployment over TLS, even if a proxy in front terminates it.
    """

    def __init__(self, app: ASGIApp, by_tls: bool) -> None:
        self.app, self.by_tls = app, by_tls

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
                if self.by_tls or scope["scheme"] == "https":
                    headers["strict-transport-security"] = STRICT_TRANSPORT
                headers.update(state["response_headers"])
            await send(message)

        await self.app(scope, receive, protected)
