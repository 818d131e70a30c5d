"""Limits the size of a request's body, first by its Content-Length, then while it arrives."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import BodyTooLarge
from gateway.proxy.routing import prefix_of

QUERY_BYTES = 2**20  # a search is read in full to determine its cost
IMAGES = 8  # times the limit of other JSON: by default an image of 20 MiB in base64, and text about it


class BodyLimit:
    """ASGI middleware inside the problem handlers. Reading too large a body raises BodyTooLarge."""

    def __init__(self, app: ASGIApp, files: int, others: int) -> None:
        self.app, self.files, self.others = app, files, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit, announced, read = self.limit(scope), _header(scope, b"content-length"), 0

        async def limited() -> Message:
            nonlocal read
            if announced.isdigit() and int(announced) > limit:
                raise BodyTooLarge(limit)
            message = await receive()
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                if read > limit:
                    raise BodyTooLarge(limit)
            return message

        await self.app(scope, limited, send)

    def limit(self, scope: Scope) -> int:
        """Returns the limit in bytes: that of a file on upload routes, unless the body is JSON.

        Routes that accept images within JSON allow a multiple of the limit for JSON, if the size is announced.
        """
        prefix = prefix_of(scope["path"])
        if prefix and prefix.searches:
            return min(self.others, QUERY_BYTES)
        if prefix and prefix.images and _header(scope, b"content-length").isdigit():
            return IMAGES * self.others
        is_json = _header(scope, b"content-type").split(b";")[0].strip().lower().endswith(b"json")
        return self.files if prefix and prefix.takes_files(scope["path"]) and not is_json else self.others


def weight_of(scope: Scope, ordinary: int) -> int:
    """Returns as how many requests in progress a body counts; an ordinary one has at most `ordinary` bytes."""
    announced = _header(scope, b"content-length")
    return max(1, -(-int(announced) // ordinary)) if announced.isdigit() else 1


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")
