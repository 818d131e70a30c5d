"""Turns a credential into a caller. Each request looks its key or session up, so one that is revoked ends at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Protocol

from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import MOST_WORKSPACES
from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated, SignedIn
from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.accounts.workspaces import Workspaces
from gateway.errors import InvalidKey, KeyExpired, RateLimited, TooManyFailures, UserDisabled
from service_kit.auth import Principal, bearer
from service_kit.postgres import Database
from service_kit.problems import Unauthenticated

NO_SECRET = bytes(32)
# Workspaces in a token: one more than a search takes, which shows that there are too many.
MOST_READABLE = MOST_WORKSPACES + 1


class WebSessions(Protocol):
    """Users who present the cookie of a web session instead of a key."""

    async def signed_in(self, request: Request) -> SignedIn | None:
        """Returns None without a cookie. Raises SessionEnded or CrossSiteRequest."""

    async def in_workspace(self, user: SignedIn, request: Request) -> Authenticated:
        """Returns the user in the workspace that the request names. Raises WorkspaceNotChosen or UnknownWorkspace."""


class Authenticator:
    """Admits valid keys and web sessions within their rate limit, and limits failed attempts by client address.

    Failed attempts never lock out a valid key: a whole office may share its address.
    """

    def __init__(
        self,
        database: Database,
        web_sessions: WebSessions,
        last_used: LastUsed,
        requests: Buckets,
        failures: Buckets,
    ) -> None:
        self.database, self.web_sessions, self.last_used = database, web_sessions, last_used
        self.requests, self.failures = requests, failures

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """Returns the caller and the RateLimit headers of the response.

        Raises InvalidKey, KeyExpired, UserDisabled, SessionEnded, TooManyFailures or RateLimited.
        """
        caller, headers = await self.admit_user(request)
        if isinstance(caller, SignedIn):
            caller = await self.web_sessions.in_workspace(caller, request)
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        return caller, headers

    async def admit_user(self, request: Request) -> tuple[Authenticated | SignedIn, dict[str, str]]:
        """Does the same without a choice of a workspace, which a user with a web session may not have made yet."""
        try:
            caller = await self._authenticate(request)
        except Unauthenticated:
            await self.count_failure(request)
            raise
        if isinstance(caller, Authenticated):
            self.last_used.note(caller)
        allowance = await self.requests.take(caller.rate_holder)
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

        With `every_workspace`, and a credential for further workspaces, it includes those that its user is a member of
        now.
        """
        if not (every_workspace and (caller.all_workspaces or caller.workspaces)):
            return caller.principal
        only = None if caller.all_workspaces else (caller.workspace.id, *caller.workspaces)
        async with self.database.system() as connection:
            readable = await Workspaces(connection).ids_of_user(caller.user.id, MOST_READABLE, only)
        return replace(caller.principal, readable=readable)

    async def _authenticate(self, request: Request) -> Authenticated | SignedIn:
        """Prefers the key: no web page can send one unless it knows it."""
        if "authorization" not in request.headers:
            user = await self.web_sessions.signed_in(request)
            if user:
                return user
        return await self._by_key(bearer(request))

    async def _by_key(self, text: str) -> Authenticated:
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


async def admitted_user(request: Request) -> Authenticated | SignedIn:
    """Authenticates the caller of a route that concerns the user, in whatever workspace."""
    authenticator: Authenticator = request.app.state.authenticator
    caller, request.state.response_headers = await authenticator.admit_user(request)
    return caller


async def admitted_if_known(request: Request) -> Authenticated | None:
    """Authenticates a caller who presents a key; returns None for one who presents none."""
    return await admitted(request) if "authorization" in request.headers else None


Admitted = Annotated[Authenticated, Depends(admitted)]
AdmittedUser = Annotated[Authenticated | SignedIn, Depends(admitted_user)]
AdmittedIfKnown = Annotated[Authenticated | None, Depends(admitted_if_known)]
