"""From the Authorization header to a caller. One indexed look-up a request and no cache: a revoked key ends at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from opentelemetry import trace

from gateway import keys, store
from gateway.accounts.caller import Authenticated
from gateway.errors import InvalidKey, RateLimited, TooManyFailures
from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from service_kit.auth import Principal, bearer
from service_kit.postgres import Database
from service_kit.problems import Unauthenticated

NO_SECRET = bytes(32)
MOST_READABLE = 101  # workspaces in a token: one more than are searched at once, so that it is seen that there are more


class Doorkeeper:
    """Lets valid keys in, within their rate; counts the failures of each client address.

    A valid key is let in whatever else came from its address, which may be that of a whole office.
    """

    def __init__(self, database: Database, last_used: LastUsed, requests: Buckets, failures: Buckets) -> None:
        self.database, self.last_used, self.requests, self.failures = database, last_used, requests, failures

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """The caller, and the RateLimit headers of the answer; raises InvalidKey, TooManyFailures or RateLimited."""
        try:
            caller = await self._authenticate(bearer(request))
        except Unauthenticated:
            allowance = await self.failures.take(request.client.host if request.client else "unknown")
            if allowance and not allowance.allowed:
                raise TooManyFailures(headers=allowance.headers) from None
            raise
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        self.last_used.note(caller)
        allowance = await self.requests.take(caller.key_id.hex)
        if allowance and not allowance.allowed:
            raise RateLimited(headers=allowance.headers)
        return caller, allowance.headers if allowance else {}

    async def principal(self, caller: Authenticated, *, every_workspace: bool) -> Principal:
        """Who a service is told that calls; with `every_workspace` and a key for it, with the others of the user."""
        if not (every_workspace and caller.all_workspaces):
            return caller.principal
        async with self.database.system() as connection:
            readable = await store.workspaces_of_user(connection, caller.user.id, MOST_READABLE)
        return replace(caller.principal, readable=readable)

    async def _authenticate(self, text: str) -> Authenticated:
        key = keys.parse(text)
        if key is None:
            raise InvalidKey
        async with self.database.system() as connection:
            row = await store.find_for_authentication(connection, key.id)
        if not key.matches(row.secret_sha256 if row else NO_SECRET) or row is None:
            raise InvalidKey
        return row.caller()


async def admitted(request: Request) -> Authenticated:
    """A dependency of the gateway's own routes. The RateLimit headers reach the answer by the request's state."""
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    caller, request.state.answer_headers = await doorkeeper.admit(request)
    return caller


Admitted = Annotated[Authenticated, Depends(admitted)]
