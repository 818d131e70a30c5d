"""Callers, and what routes require of them. `service_kit.tokens` has the proof."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol
from uuid import UUID

from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import Role
from service_kit.problems import Forbidden, Unauthenticated


@dataclass(frozen=True)
class Principal:
    """A caller: a user acting in one workspace with one role.

    `readable`: other workspaces the caller may search; None if the key covers one workspace. `delegation`: what the
    gateway signed for services that call others for the user. `via`: the service that acts for the user; None if the
    request comes from the gateway. `key_id`: the API key of the caller; None in a browser.
    """

    user_id: UUID
    workspace_id: UUID
    role: Role
    readable: tuple[UUID, ...] | None = None
    delegation: str | None = field(default=None, compare=False, repr=False)
    via: str | None = field(default=None, compare=False)
    key_id: UUID | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ServiceCaller:
    """A service that calls on its own behalf, about one workspace; it acts for no user."""

    name: str
    workspace_id: UUID


class Verifier(Protocol):
    """Identifies the caller from a token."""

    def verify(self, token: str) -> Principal | ServiceCaller:
        """Returns the caller. Raises Unauthenticated."""
        ...


def bearer(request: Request) -> str:
    """Returns the credential of the Authorization header. Raises Unauthenticated without one."""
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not credential.strip():
        raise Unauthenticated("send the header Authorization: Bearer <key>")
    return credential.strip()


async def calling(request: Request) -> Principal | ServiceCaller:
    """Returns the caller, from the internal token (`app.state.tokens`). A dependency."""
    tokens: Verifier = request.app.state.tokens
    caller = tokens.verify(bearer(request))
    request.state.logged = {"workspace_id": caller.workspace_id} | (
        {"user_id": caller.user_id} if isinstance(caller, Principal) else {"asked_by": caller.name}
    )
    trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace_id))
    return caller


Calling = Annotated[Principal | ServiceCaller, Depends(calling)]


async def verified(caller: Calling) -> Principal:
    """Returns the calling user. A dependency. Raises Forbidden for a service, even if it acts for a user."""
    return _user(caller)


def at_least(role: Role) -> Callable[[Principal], Awaitable[Principal]]:
    """Returns the caller if the role suffices. A dependency. Raises Forbidden."""

    # A coroutine like `verified`, because a plain function would run in another thread, which costs more than its work.
    async def allowed(principal: Annotated[Principal, Depends(verified)]) -> Principal:
        if principal.role.rank < role.rank:
            raise Forbidden(f"this needs the role {role.value}; the key has {principal.role.value}")
        return principal

    return allowed


def called_by(*services: str) -> Callable[[ServiceCaller], Awaitable[ServiceCaller]]:
    """Returns the calling service if it is one of these. A dependency. Raises Forbidden."""

    async def allowed(caller: Calling) -> ServiceCaller:
        if not isinstance(caller, ServiceCaller) or caller.name not in services:
            raise Forbidden(f"only these services may call this: {', '.join(services)}")
        return caller

    return allowed


def viewer_or(*services: str) -> Callable[[Principal | ServiceCaller], Awaitable[UUID]]:
    """Returns the workspace of a user, or of one of these services without a user. A dependency. Raises Forbidden."""

    async def allowed(caller: Calling) -> UUID:
        if isinstance(caller, ServiceCaller) and caller.name in services:
            return caller.workspace_id
        return _user(caller).workspace_id

    return allowed


def viewer_through(*services: str) -> Callable[[Principal | ServiceCaller], Awaitable[Principal]]:
    """Returns the user, for whom one of these services may act. A dependency. Raises Forbidden."""

    async def allowed(caller: Calling) -> Principal:
        return _user(caller, services)

    return allowed


def _user(caller: Principal | ServiceCaller, acting: Sequence[str] = ()) -> Principal:
    if isinstance(caller, ServiceCaller):
        raise Forbidden(f"only users may call this; {caller.name} acts for no user")
    if caller.via is not None and caller.via not in acting:
        raise Forbidden(f"{caller.via} may not call this for a user")
    return caller


Viewer = Annotated[Principal, Depends(at_least(Role.viewer))]
Editor = Annotated[Principal, Depends(at_least(Role.editor))]
Owner = Annotated[Principal, Depends(at_least(Role.owner))]
