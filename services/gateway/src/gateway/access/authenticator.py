"""Turns the Authorization header into a caller. Each request looks its key up, so a revoked key ends at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import MOST_WORKSPACES
from gateway.access.in_flight import InFlight
from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.accounts.workspaces import Workspaces
from gateway.errors import InvalidKey, KeyExpired, RateLimited, TooManyFailures, UserDisabled
from service_kit.auth import Principal, bearer
from service_kit.postgres import Database
from service_kit.problems import Unauthenticated

NO_SECRET = bytes(32)
# Workspaces in a token: one more than a search takes, which shows that there are too many.
MOST_READABLE = MOST_WORKSPACES + 1


@dataclass(frozen=True)
class Limits:
    """What callers may do. `requests` and `workspace` are tokens of a key and of all keys of a workspace, `failures` of
    an address; `short` and `long` are requests in progress: those that wait for something are `long`.
    """

    requests: Buckets
    workspace: Buckets
    failures: Buckets
    short: InFlight
    long: InFlight


class Authenticator:
    """Admits valid keys within their limits, and limits failed attempts by client address.

    Failed attempts never lock out a valid key: a whole office may share its address.
    """

    def __init__(self, database: Database, last_used: LastUsed, limits: Limits) -> None:
        self.database, self.last_used, self.limits = database, last_used, limits

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """Returns the caller and the RateLimit headers of the response.

        Raises InvalidKey, KeyExpired, UserDisabled, TooManyFailures or RateLimited.
        """
        address = request.client.host if request.client else "unknown"
        request.state.logged = {"address": address}
        try:
            caller = await self._authenticate(bearer(request))
        except Unauthenticated:
            await self.count_failure(request)
            raise
        request.state.caller = caller
        request.state.logged |= {
            "key_id": caller.key_id,
            "user_id": caller.user.id,
            "workspace_id": caller.workspace.id,
        }
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        self.last_used.note(caller)
        return caller, await self.charge(caller, 1)

    async def charge(self, caller: Authenticated, cost: int) -> dict[str, str]:
        """Takes tokens of the key and of its workspace; returns the key's RateLimit headers. Raises RateLimited."""
        allowance = await self.limits.requests.take(caller.key_id.hex, cost)
        if allowance and not allowance.allowed:
            raise RateLimited(headers=allowance.headers)
        shared = await self.limits.workspace.take(caller.workspace.id.hex, cost)
        if shared and not shared.allowed:
            raise RateLimited("the keys of this workspace together ask too much", headers=shared.headers)
        return allowance.headers if allowance else {}

    def in_progress(self, caller: Authenticated, request: Request) -> AbstractContextManager[None]:
        """Returns a context in which the request counts as in progress. Entering it raises TooManyInFlight."""
        kind = self.limits.long if is_long(request) else self.limits.short
        return kind.held(caller.key_id, caller.workspace.id)

    def weighing(self, caller: Authenticated, weight: int) -> AbstractContextManager[None]:
        """Returns a context in which a request that is in progress weighs so much. Entering raises TooManyInFlight."""
        return self.limits.short.held(caller.key_id, caller.workspace.id, weight - 1, beside=1)

    async def count_failure(self, request: Request) -> None:
        """Counts a failed attempt of the client's address. Raises TooManyFailures if it has none left."""
        allowance = await self.limits.failures.take(request.client.host if request.client else "unknown")
        if allowance and not allowance.allowed:
            raise TooManyFailures(headers=allowance.headers) from None

    async def principal(self, caller: Authenticated, *, every_workspace: bool) -> Principal:
        """Returns the caller as a service sees it.

        With `every_workspace`, and a key for further workspaces, it includes those that its user is a member of now.
        """
        if not (every_workspace and (caller.all_workspaces or caller.workspaces)):
            return caller.principal
        only = None if caller.all_workspaces else (caller.workspace.id, *caller.workspaces)
        async with self.database.system() as connection:
            readable = await Workspaces(connection).ids_of_user(caller.user.id, MOST_READABLE, only)
        return replace(caller.principal, readable=readable)

    async def _authenticate(self, text: str) -> Authenticated:
        key = key_format.parse(text)
        if key is None:
            raise InvalidKey
        async with self.database.system() as connection:
            row = await KeysOfAllWorkspaces(connection).find(key.id)
        if not key.matches(row.secret_sha256 if row else NO_SECRET) or row is None:
            raise InvalidKey
        if row.user_disabled_at is not None:
            raise UserDisabled
        if row.is_expired:
            raise KeyExpired
        return row.caller()


def is_long(request: Request) -> bool:
    """Returns whether the request waits for something that others do: an event stream, or a wait with a timeout."""
    if request.method == "POST":
        return False
    return request.url.path.endswith("/events") or not {"wait", "timeout"}.isdisjoint(request.query_params)


async def admitted(request: Request) -> AsyncIterator[Authenticated]:
    """Authenticates the caller of one of the gateway's own routes, and passes the RateLimit headers on."""
    authenticator: Authenticator = request.app.state.authenticator
    caller, request.state.response_headers = await authenticator.admit(request)
    with authenticator.in_progress(caller, request):
        yield caller


async def admitted_if_known(request: Request) -> AsyncIterator[Authenticated | None]:
    """Authenticates a caller who presents a credential; yields None for one who presents none."""
    if "authorization" not in request.headers:
        yield None
        return
    async with asynccontextmanager(admitted)(request) as caller:
        yield caller


Admitted = Annotated[Authenticated, Depends(admitted)]
AdmittedIfKnown = Annotated[Authenticated | None, Depends(admitted_if_known)]
