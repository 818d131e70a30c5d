"""Turns the Authorization header into a caller. Each request looks its key up, so a revoked key ends at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from opentelemetry import trace

from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.accounts.workspaces import Workspaces
from gateway.errors import InvalidKey, RateLimited, TooManyFailures
from service_kit.auth import Principal, bearer
from service_kit.postgres import Database
from service_kit.problems import Unauthenticated

NO_SECRET = bytes(32)
MOST_READABLE = 101  # workspaces in a token: one more than a search takes, which shows that there are too many


class Authenticator:
    """Admits valid keys within their rate limit, and limits failed attempts by client address.

    Failed attempts never lock out a valid key: a whole office may share its address.
    """

    def __init__(self, database: Database, last_used: LastUsed, requests: Buckets, failures: Buckets) -> None:
        self.database, self.last_used, self.requests, self.failures = database, last_used, requests, failures

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """Returns the caller and the RateLimit headers of the response.

        Raises InvalidKey, TooManyFailures or RateLimited.
        """
        address = request.client.host if request.client else "unknown"
        request.state.logged = {"address": address}
        try:
            caller = await self._authenticate(bearer(request))
        except Unauthenticated:
            allowance = await self.failures.take(address)
            if allowance and not allowance.allowed:
                raise TooManyFailures(headers=allowance.headers) from None
            raise
        request.state.caller = caller
        request.state.logged |= {
            "key_id": caller.key_id,
            "user_id": caller.user.id,
            "workspace_id": caller.workspace.id,
        }
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        self.last_used.note(caller)
        allowance = await self.requests.take(caller.key_id.hex)
        if allowance and not allowance.allowed:
            raise RateLimited(headers=allowance.headers)
        return caller, allowance.headers if allowance else {}

    async def principal(self, caller: Authenticated, *, every_workspace: bool) -> Principal:
        """Returns the caller as a service sees it.

        With `every_workspace`, and a key for all workspaces, it includes the user's other workspaces.
        """
        if not (every_workspace and caller.all_workspaces):
            return caller.principal
        async with self.database.system() as connection:
            readable = await Workspaces(connection).ids_of_user(caller.user.id, MOST_READABLE)
        return replace(caller.principal, readable=readable)

    async def _authenticate(self, text: str) -> Authenticated:
        key = key_format.parse(text)
        if key is None:
            raise InvalidKey
        async with self.database.system() as connection:
            row = await KeysOfAllWorkspaces(connection).find(key.id)
        if not key.matches(row.secret_sha256 if row else NO_SECRET) or row is None:
            raise InvalidKey
        return row.caller()


async def admitted(request: Request) -> Authenticated:
    """Authenticates the caller of one of the gateway's own routes, and passes the RateLimit headers on."""
    authenticator: Authenticator = request.app.state.authenticator
    caller, request.state.response_headers = await authenticator.admit(request)
    return caller


Admitted = Annotated[Authenticated, Depends(admitted)]
