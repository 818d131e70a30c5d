"""Turns a credential into a caller. Each request looks up its key or session, so revoking one takes effect at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Protocol

from fastapi import Depends, Request
from opentelemetry import trace

from contracts.gateway import MOST_WORKSPACES
from gateway.access.in_flight import InFlight
from gateway.access.last_used import LastUsed
from gateway.access.rate_limit import Buckets
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated, SignedIn
from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.accounts.workspaces import Workspaces
from gateway.client_address import client_address, network
from gateway.errors import InvalidKey, KeyExpired, RateLimited, TooManyFailures, UserDisabled
from service_kit.auth import Principal, bearer
from service_kit.postgres import Database
from service_kit.problems import Unauthenticated
from service_kit.routes import from_state

NO_SECRET = bytes(32)
# Workspaces in a token: one more than a search accepts, to show that there are too many.
MOST_READABLE = MOST_WORKSPACES + 1


class WebSessionReader(Protocol):
    """Finds users who present the cookie of a web session instead of a key."""

    async def signed_in(self, request: Request) -> SignedIn | Authenticated | None:
        """Returns None without a cookie, and for a session begun with a key that key. Raises SessionEnded or
        CrossSiteRequest.
        """

    async def in_workspace(self, user: SignedIn, request: Request) -> Authenticated:
        """Returns the user in the workspace that the request names. Raises WorkspaceNotChosen or UnknownWorkspace."""


@dataclass(frozen=True)
class CallerLimits:
    """Limits of callers. `requests` and `workspace` are tokens of a key and of all keys of a workspace, `failures` of
    an address; `short` and `long` are requests in progress: those that wait for something are `long`.
    """

    requests: Buckets
    workspace: Buckets
    failures: Buckets
    short: InFlight
    long: InFlight


class Authenticator:
    """Admits valid keys and web sessions within their limits, and limits failed attempts by client address.

    Failed attempts never lock out a valid key, because a whole office may share one address.
    """

    def __init__(
        self, database: Database, web_sessions: WebSessionReader, last_used: LastUsed, limits: CallerLimits
    ) -> None:
        self.database, self.web_sessions, self.last_used = database, web_sessions, last_used
        self.limits = limits

    async def admit(self, request: Request) -> tuple[Authenticated, dict[str, str]]:
        """Returns the caller and the RateLimit headers of the response.

        Raises InvalidKey, KeyExpired, UserDisabled, SessionEnded, TooManyFailures or RateLimited.
        """
        user, headers = await self.admit_user(request)
        caller = await self.web_sessions.in_workspace(user, request) if isinstance(user, SignedIn) else user
        request.state.caller = caller
        request.state.logged["workspace_id"] = caller.workspace.id
        trace.get_current_span().set_attribute("attractor.workspace_id", str(caller.workspace.id))
        await self._charge_workspace(caller, 1)
        return caller, headers

    async def admit_user(self, request: Request) -> tuple[Authenticated | SignedIn, dict[str, str]]:
        """Does the same without a workspace, which a user with a web session may not have chosen yet."""
        request.state.logged = {"address": client_address(request)}
        try:
            user = await self._authenticate(request)
        except Unauthenticated:
            await self.count_failure(request)
            raise
        request.state.audited_user, request.state.audited_credential = user.user.id, user.presented_id
        if isinstance(user, Authenticated):
            request.state.caller = user
            request.state.logged |= {"key_id": user.key_id, "user_id": user.user.id, "workspace_id": user.workspace.id}
            self.last_used.note(user)
        else:
            request.state.logged |= {"session_id": user.session_id, "user_id": user.user.id}
        return user, await self._charge_holder(user, 1)

    async def charge(self, caller: Authenticated, cost: int) -> dict[str, str]:
        """Takes tokens of the caller and the workspace; returns the caller's RateLimit headers. Raises RateLimited."""
        headers = await self._charge_holder(caller, cost)
        await self._charge_workspace(caller, cost)
        return headers

    async def _charge_holder(self, caller: Authenticated | SignedIn, cost: int) -> dict[str, str]:
        allowance = await self.limits.requests.take(caller.rate_holder, cost, caller.most_per_minute)
        if allowance and not allowance.allowed:
            raise RateLimited(headers=allowance.headers)
        return allowance.headers if allowance else {}

    async def _charge_workspace(self, caller: Authenticated, cost: int) -> None:
        shared = await self.limits.workspace.take(caller.workspace.id.hex, cost)
        if shared and not shared.allowed:
            raise RateLimited("the keys of this workspace together send too many requests", headers=shared.headers)

    def in_progress(self, caller: Authenticated, request: Request) -> AbstractContextManager[None]:
        """Returns a context in which the request counts as in progress. Entering it raises TooManyInFlight."""
        kind = self.limits.long if is_long(request) else self.limits.short
        return kind.held(caller.credential_id, caller.workspace.id)

    def weighing(self, caller: Authenticated, weight: int) -> AbstractContextManager[None]:
        """Returns a context in which a request in progress has this weight. Entering it raises TooManyInFlight."""
        return self.limits.short.held(caller.credential_id, caller.workspace.id, weight - 1, beside=1)

    async def count_failure(self, request: Request) -> None:
        """Counts a failed attempt for the client's network. Raises TooManyFailures if it has none left."""
        allowance = await self.limits.failures.take(network(client_address(request)))
        if allowance and not allowance.allowed:
            raise TooManyFailures(headers=allowance.headers) from None

    async def principal(self, caller: Authenticated, *, every_workspace: bool) -> Principal:
        """Returns the caller as a service sees it.

        With `every_workspace`, and a credential for further workspaces, it includes those that its user is currently
        a member of.
        """
        if not (every_workspace and (caller.all_workspaces or caller.workspaces)):
            return caller.principal
        only = None if caller.all_workspaces else (caller.workspace.id, *caller.workspaces)
        async with self.database.system() as connection:
            readable = await Workspaces(connection).ids_of_user(caller.user.id, MOST_READABLE, only)
        return replace(caller.principal, readable=readable)

    async def _authenticate(self, request: Request) -> Authenticated | SignedIn:
        """Authenticates by key, else by session: a web page can only send a key that it knows."""
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


def is_long(request: Request) -> bool:
    """Returns whether the request waits for other work: an event stream, or a wait with a timeout."""
    if request.method == "POST":
        return False
    return request.url.path.endswith("/events") or not {"wait", "timeout"}.isdisjoint(request.query_params)


UsedAuthenticator = Annotated[Authenticator, from_state("authenticator")]


async def admitted(request: Request, authenticator: UsedAuthenticator) -> AsyncIterator[Authenticated]:
    """Authenticates the caller of one of the gateway's own routes, and adds the RateLimit headers to the response."""
    caller, request.state.response_headers = await authenticator.admit(request)
    with authenticator.in_progress(caller, request):
        yield caller


async def admitted_user(request: Request, authenticator: UsedAuthenticator) -> Authenticated | SignedIn:
    """Authenticates the caller of a route that concerns the user, in whatever workspace."""
    caller, request.state.response_headers = await authenticator.admit_user(request)
    return caller


async def admitted_if_known(request: Request, authenticator: UsedAuthenticator) -> AsyncIterator[Authenticated | None]:
    """Authenticates a caller who presents a key; yields None for one who presents none."""
    if "authorization" not in request.headers:
        yield None
        return
    async with asynccontextmanager(admitted)(request, authenticator) as caller:
        yield caller


Admitted = Annotated[Authenticated, Depends(admitted)]
AdmittedUser = Annotated[Authenticated | SignedIn, Depends(admitted_user)]
AdmittedIfKnown = Annotated[Authenticated | None, Depends(admitted_if_known)]
