"""HEAD and OPTIONS for every route, own and proxied (RFC 9110, sections 9.3.2 and 9.3.7)."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAndOptions:
    """ASGI middleware: HEAD is GET without its body; OPTIONS says which methods there are."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope.setdefault("state", {})["headers_only"] = True
            await self.app({**scope, "method": "GET"}, receive, _without_body(send))
        elif scope["type"] == "http" and scope["method"] == "OPTIONS":
            await self.app(scope, receive, _allowed_methods(send))
        else:
            await self.app(scope, receive, send)


def _without_body(send: Send) -> Send:
    ended = False

    async def headers_only(message: Message) -> None:
        nonlocal ended
        if message["type"] != "http.response.body":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return headers_only


def _allowed_methods(send: Send) -> Send:
    """Turns the refusal of OPTIONS, which lists the methods that there are, into the answer that it asks for."""
    refused = False

    async def answer(message: Message) -> None:
        nonlocal refused
        if message["type"] == "http.response.start" and message["status"] == 405:
            allow = [pair for pair in message["headers"] if pair[0] == b"allow"]
            if allow:
                refused = True
                message = {**message, "status": 204, "headers": allow}
        elif refused and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return answer
