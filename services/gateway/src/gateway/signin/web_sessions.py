"""Begins, recognises and ends web sessions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID, uuid4

from starlette.requests import Request
from starlette.responses import Response

from contracts.base import Page
from contracts.gateway import User
from contracts.random_secrets import new_secret, secret_sha256
from contracts.sign_in import OwnWorkspace, SignedInUser, SignInCode, WebSession
from gateway.accounts.caller import Authenticated, SignedIn
from gateway.accounts.keys import KeysOfAllWorkspaces
from gateway.client_address import client_address
from gateway.errors import (
    CrossSiteRequest,
    NeedsKey,
    NeedsSession,
    NotConfidential,
    SessionEnded,
    UnknownSignInCode,
    UnknownWebSession,
    UnknownWorkspace,
    WorkspaceNotChosen,
)
from gateway.signin.cookies import SESSION, BrowserCookie
from gateway.signin.origins import SAFE_METHODS, WebOrigins
from gateway.signin.sessions import WebSessionRows
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database

WORKSPACE_HEADER = "x-workspace-id"
LONGEST_USER_AGENT = 300
CODE_SECONDS = 3600


@dataclass(frozen=True)
class Lifetime:
    """The lifetime of a session in seconds: it ends after `idle` without use, and after `longest` in any case."""

    idle: int
    longest: int


class WebSessions:
    """Implements `access.authenticator.WebSessions`, and serves the routes."""

    def __init__(self, database: Database, origins: WebOrigins, lifetime: Lifetime) -> None:
        self.database, self.origins, self.lifetime = database, origins, lifetime
        self.cookie = BrowserCookie(SESSION, origins, lifetime.longest)

    async def signed_in(self, request: Request) -> SignedIn | Authenticated | None:
        secret = self.cookie.read(request)
        if secret is None:
            return None
        if request.method not in SAFE_METHODS:
            self.must_be_own_page(request)
        async with self.database.system() as connection:
            row = await WebSessionRows(connection).authenticate(secret_sha256(secret), self.lifetime.idle)
            key = await KeysOfAllWorkspaces(connection).find(row.key_id) if row and row.key_id else None
        if row is None:
            raise SessionEnded
        if row.key_id is None:
            return row.signed_in()
        if key is None or key.is_expired:
            raise SessionEnded
        return replace(key.caller(), session_id=row.id)

    def must_be_own_page(self, request: Request) -> None:
        """Raises CrossSiteRequest if the browser says that a page of another origin made the request."""
        if not self.origins.is_same_origin(request):
            raise CrossSiteRequest

    def must_be_confidential(self, request: Request) -> None:
        """Raises NotConfidential if the request could be read in transit."""
        if not self.origins.is_confidential(request):
            raise NotConfidential

    async def in_workspace(self, user: SignedIn, request: Request) -> Authenticated:
        chosen = _workspace_header(request)
        async with self.database.system() as connection:
            found = await WebSessionRows(connection).memberships(user.user.id, 2, only=chosen)
        if chosen and not found:
            raise UnknownWorkspace
        if len(found) != 1:
            raise WorkspaceNotChosen("you are a member of several" if found else "you are a member of none")
        own = found[0].resource()
        return Authenticated(None, user.user, own.workspace, own.role, all_workspaces=True, session_id=user.session_id)

    async def begin(
        self,
        connection: Connection,
        request: Request,
        response: Response,
        user: User,
        method: Literal["password", "openid", "key"],
        key_id: UUID | None = None,
    ) -> SignedInUser:
        """Begins a session with a new secret, in the response's cookie; the browser's previous session ends."""
        secret, sessions = new_secret(), WebSessionRows(connection)
        await sessions.delete_ended(self.lifetime.idle)
        await self._end_presented(sessions, request)
        session = await sessions.insert(
            uuid4(),
            user.id,
            key_id,
            secret_sha256(secret),
            method,
            client_address(request),
            _printable(request.headers.get("user-agent", ""))[:LONGEST_USER_AGENT],
            self.lifetime.longest,
        )
        self.cookie.write(request, response, secret)
        request.state.audited_user, request.state.audited_credential = user.id, session.id
        return SignedInUser(user=user, session=session)

    async def begin_with_key(self, request: Request, response: Response, caller: Authenticated) -> SignedInUser:
        """Begins a session that acts as the caller's key. Raises NeedsKey, CrossSiteRequest or NotConfidential."""
        if caller.key_id is None:
            raise NeedsKey
        self.must_be_own_page(request)
        self.must_be_confidential(request)
        async with self.database.system() as connection:
            return await self.begin(connection, request, response, caller.user, "key", caller.key_id)

    async def create_code(self, caller: Authenticated) -> SignInCode:
        """Creates a code that signs a browser in once, as the caller's key. Raises NeedsKey."""
        if caller.key_id is None or caller.session_id is not None:
            raise NeedsKey
        secret = new_secret()
        async with self.database.system() as connection:
            ends = await WebSessionRows(connection).insert_code(secret_sha256(secret), caller.key_id, CODE_SECONDS)
        return SignInCode(code=secret, expires_at=ends)

    async def begin_with_code(self, request: Request, response: Response, code: str) -> SignedInUser:
        """Begins a session that acts as the key of the code.

        Raises UnknownSignInCode, also when the key has ended or its user is disabled, CrossSiteRequest or
        NotConfidential.
        """
        self.must_be_own_page(request)
        self.must_be_confidential(request)
        async with self.database.system() as connection:
            key_id = await WebSessionRows(connection).take_code(secret_sha256(code))
            key = await KeysOfAllWorkspaces(connection).find(key_id) if key_id else None
            if key is not None and not key.is_expired and key.user_disabled_at is None:
                return await self.begin(connection, request, response, key.caller().user, "key", key.key_id)
        raise UnknownSignInCode

    async def describe(self, user: SignedIn | Authenticated) -> SignedInUser:
        if user.session_id is None:
            raise NeedsSession
        async with self.database.system() as connection:
            session = await WebSessionRows(connection).find(user.session_id)
        if session is None:
            raise SessionEnded
        return SignedInUser(user=user.user, session=session)

    async def of_user(self, user: SignedIn, limit: int, cursor: str | None) -> Page[WebSession]:
        """Lists the user's sessions, oldest first."""
        async with self.database.system() as connection:
            rows = await WebSessionRows(connection).of_user(
                user.user.id, self.lifetime.idle, *decode_cursor(cursor), limit + 1
            )
        return page(rows, limit, lambda session: (session.created_at, session.id))

    async def workspaces(self, user: SignedIn, limit: int, cursor: str | None) -> Page[OwnWorkspace]:
        """Lists the workspaces that the user may choose from, oldest first."""
        at, after = decode_cursor(cursor)
        async with self.database.system() as connection:
            rows = await WebSessionRows(connection).memberships(user.user.id, limit + 1, at=at, after=after)
        return page(rows, limit, lambda row: (row.created_at, row.id), lambda row: row.resource())

    async def end(self, user: SignedIn, session_id: UUID) -> None:
        """Ends one of the user's sessions. Raises UnknownWebSession."""
        async with self.database.system() as connection:
            if not await WebSessionRows(connection).delete(user.user.id, session_id):
                raise UnknownWebSession

    async def end_presented(self, request: Request) -> None:
        """Ends the session of the request's cookie. Raises NeedsSession without one."""
        if self.cookie.read(request) is None:
            raise NeedsSession
        async with self.database.system() as connection:
            await self._end_presented(WebSessionRows(connection), request)

    async def end_all(self, user: SignedIn) -> None:
        async with self.database.system() as connection:
            await WebSessionRows(connection).delete_of_user(user.user.id)

    async def _end_presented(self, sessions: WebSessionRows, request: Request) -> None:
        presented = self.cookie.read(request)
        if presented is not None:
            await sessions.delete_presented(secret_sha256(presented))


def _workspace_header(request: Request) -> UUID | None:
    """Returns the chosen workspace. Raises UnknownWorkspace if it is not an id."""
    text = request.headers.get(WORKSPACE_HEADER)
    try:
        return UUID(text) if text else None
    except ValueError:
        raise UnknownWorkspace from None


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())
