"""Who calls: a short-lived signed token (JWT, RFC 7519) that every service verifies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import jwt
from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import Role
from service_kit.problems import Forbidden, Unauthenticated

ALGORITHM = "HS256"
AUDIENCE = "attractor-internal"
LIFETIME = timedelta(minutes=2)


@dataclass(frozen=True)
class Principal:
    """A caller: a user acting in one workspace with one role.

    `readable`: other workspaces the caller may search; None if the key covers one workspace.
    """

    user_id: UUID
    workspace_id: UUID
    role: Role
    readable: tuple[UUID, ...] | None = None


class Tokens:
    """Signs and verifies tokens with the secret that the deployment's services share."""

    def __init__(self, secret: str, issuer: str) -> None:
        if len(secret) < 32:
            raise ValueError("INTERNAL_TOKEN_SECRET must have at least 32 characters")
        self.secret, self.issuer = secret, issuer

    def sign(self, principal: Principal) -> str:
        now = datetime.now(UTC)
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": str(principal.user_id),
            "workspace": str(principal.workspace_id),
            "role": principal.role.value,
            "iat": now,
            "exp": now + LIFETIME,
        }
        if principal.readable is not None:
            claims["readable"] = [str(workspace_id) for workspace_id in principal.readable]
        return jwt.encode(claims, self.secret, ALGORITHM)

    def verify(self, token: str) -> Principal:
        """Returns the caller. Raises Unauthenticated if the token is not ours, has been altered or has expired."""
        try:
            claims = jwt.decode(
                token,
                self.secret,
                [ALGORITHM],
                audience=AUDIENCE,
                leeway=5,
                options={"require": ["exp", "sub", "workspace", "role", "iss"]},
            )
            readable = claims.get("readable")
            return Principal(
                UUID(claims["sub"]),
                UUID(claims["workspace"]),
                Role(claims["role"]),
                None if readable is None else tuple(map(UUID, readable)),
            )
        except (jwt.InvalidTokenError, ValueError) as error:
            raise Unauthenticated("the internal token is not valid") from error


def bearer(request: Request) -> str:
    """Returns the credential of the Authorization header. Raises Unauthenticated without one."""
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not credential.strip():
        raise Unauthenticated("send the header Authorization: Bearer <key>", headers={"WWW-Authenticate": "Bearer"})
    return credential.strip()


async def verified(request: Request) -> Principal:
    """Returns the caller, from the internal token (`app.state.tokens`). A dependency."""
    tokens: Tokens = request.app.state.tokens
    principal = tokens.verify(bearer(request))
    request.state.logged = {"user_id": principal.user_id, "workspace_id": principal.workspace_id}
    trace.get_current_span().set_attribute("attractor.workspace_id", str(principal.workspace_id))
    return principal


def at_least(role: Role) -> Callable[[Principal], Awaitable[Principal]]:
    """Returns the caller if the role suffices. A dependency. Raises Forbidden."""

    # A coroutine, as `verified` is: what is not one would be run on another thread, which takes longer than it does.
    async def allowed(principal: Annotated[Principal, Depends(verified)]) -> Principal:
        if principal.role.rank < role.rank:
            raise Forbidden(f"this needs the role {role.value}; the key has {principal.role.value}")
        return principal

    return allowed


Viewer = Annotated[Principal, Depends(at_least(Role.viewer))]
Editor = Annotated[Principal, Depends(at_least(Role.editor))]
Owner = Annotated[Principal, Depends(at_least(Role.owner))]
