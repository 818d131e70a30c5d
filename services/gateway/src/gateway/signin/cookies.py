"""The cookies that a browser keeps."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from gateway.signin.origins import WebOrigins

SESSION, KNOWN_BROWSER = "attractor_session", "attractor_browser"
# With this prefix, browsers require Secure, exactly this host, and the path /.
PREFIX = "__Host-"


class BrowserCookie:
    """A cookie that is HttpOnly, SameSite=Strict, and Secure except on this machine without TLS."""

    def __init__(self, name: str, origins: WebOrigins, seconds: int) -> None:
        self.name, self.origins, self.seconds = name, origins, seconds

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
        # Safari ignores Secure cookies from localhost without TLS. A plain one also reaches other ports of this host.
        return self.name if self.origins.is_plain_loopback(request) else PREFIX + self.name
