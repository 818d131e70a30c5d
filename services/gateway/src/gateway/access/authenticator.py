"""Turns the Authorization header into a caller. Each request looks its key up, so a revoked key ends at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import MOST_WORKSPACES
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


class Authenticator:
    """Admits valid keys within their rate limit, and limits failed attempts by client address.

    Failed attempts never lock out a valid key: a whole office may share its address.
    """

    def __init__(self, database: Database, last_used: LastUsed, requests: Buckets, failures: Buckets) -> None:
        self.database, self.last_used, self.requests, self.failures = database, last_used, requests, failures

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """Returns the caller and the RateLimit headers of the response.

        Raises InvalidKey, KeyExpired, UserDisabled, TooManyFailures or RateLimited.
        """
        try:
            caller = await self._authenticate(bearer(request))
        except Unauthenticated:
            await self.count_failure(request)
            raise
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        self.last_used.note(caller)
        allowance = await self.requests.take(caller.key_id.hex)
        if allowance and not allowance.allowed:
            raise RateLimited(headers=allowance.headers)
        return caller, allowance.headers if allowance else {}

    async def count_failure(self, request: Request) -> None:
        """Counts a failed attempt of the client's address. Raises TooManyFailures if it has none left."""
        allowance = await self.failures.take(request.client.host if request.client else "unknown")
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


async def admitted(request: Request) -> Authenticated:
    """Authenticates the caller of one of the gateway's own routes, and passes the RateLimit headers on."""
    authenticator: Authenticator = request.app.state.authenticator
    caller, request.state.response_headers = await authenticator.admit(request)
    return caller


async def admitted_if_known(request: Request) -> Authenticated | None:
    """Authenticates a caller who presents a credential; returns None for one who presents none."""
    return await admitted(request) if "authorization" in request.headers else None


Admitted = Annotated[Authenticated, Depends(admitted)]
AdmittedIfKnown = Annotated[Authenticated | None, Depends(admitted_if_known)]
