"""The cookie of a web session."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from gateway.signin.origins import WebOrigins

# The prefix makes browsers insist on Secure, on this very host and on the path /.
NAME = "__Host-attractor_session"
# On this machine without TLS: Safari keeps no Secure cookie there. Other programs at this machine's ports get it too.
PLAIN_NAME = "attractor_session"


class SessionCookie:
    """HttpOnly, SameSite=Strict, and Secure but on this machine without TLS."""

    def __init__(self, origins: WebOrigins, seconds: int) -> None:
        self.origins, self.seconds = origins, seconds

    def read(self, request: Request) -> str | None:
        return request.cookies.get(self._name(request))

    def write(self, request: Request, response: Response, secret: str) -> None:
        response.set_cookie(
            self._name(request),
            secret,
            max_age=self.seconds,
            secure=not self.origins.is_plain_loopback(request),
            httponly=True,
            samesite="strict",
        )

    def delete(self, request: Request, response: Response) -> None:
        secure = not self.origins.is_plain_loopback(request)
        response.delete_cookie(self._name(request), secure=secure, httponly=True, samesite="strict")

    def _name(self, request: Request) -> str:
        return PLAIN_NAME if self.origins.is_plain_loopback(request) else NAME
