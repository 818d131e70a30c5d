"""The cookie that ties a sign-in at the provider to the browser that began it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from gateway.signin.origins import WebOrigins

NAME = "__Host-attractor_openid"
PLAIN_NAME = "attractor_openid"
SEPARATOR = "."


@dataclass(frozen=True)
class Begun:
    """`invitation` is the token of the invitation that the user accepts."""

    state: str
    invitation: str | None


class StateCookie:
    """A cookie that is SameSite=Lax, because the provider's redirect comes from another site."""

    def __init__(self, origins: WebOrigins, seconds: int) -> None:
        self.origins, self.seconds = origins, seconds

    def read(self, request: Request) -> Begun | None:
        state, _, invitation = request.cookies.get(self._name(request), "").partition(SEPARATOR)
        return Begun(state, invitation or None) if state else None

    def write(self, request: Request, response: Response, begun: Begun) -> None:
        response.set_cookie(
            self._name(request),
            SEPARATOR.join(filter(None, (begun.state, begun.invitation))),
            max_age=self.seconds,
            secure=not self.origins.is_plain_loopback(request),
            httponly=True,
            samesite="lax",
        )

    def delete(self, request: Request, response: Response) -> None:
        secure = not self.origins.is_plain_loopback(request)
        response.delete_cookie(self._name(request), secure=secure, httponly=True, samesite="lax")

    def _name(self, request: Request) -> str:
        return PLAIN_NAME if self.origins.is_plain_loopback(request) else NAME
