"""Signs users in by password, and sets passwords: the first by an administrator's link, later ones with the old one."""

from __future__ import annotations

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from contracts.random_secrets import new_secret, secret_sha256
from contracts.sign_in import InvitationSignUp, PasswordLink, SignedInUser
from gateway.accounts.caller import Authenticated, SignedIn
from gateway.accounts.joining import join
from gateway.client_address import client_address
from gateway.errors import (
    NeedsPasswordLink,
    PasswordMismatch,
    PasswordNeeded,
    UnknownPasswordLink,
    UnknownUser,
    WrongCredentials,
)
from gateway.signin.attempts import Attempts, account_of
from gateway.signin.credentials import PasswordUser, SignInCredentials
from gateway.signin.known_browsers import KnownBrowsers
from gateway.signin.passwords import Passwords, must_be_uncommon
from gateway.signin.sessions import WebSessionRows
from gateway.signin.web_sessions import WebSessions
from service_kit.postgres import Connection, Database

LINK_SECONDS = 24 * 3600


class PasswordSignIns:
    """Holds no database connection while a password is hashed."""

    def __init__(
        self,
        database: Database,
        passwords: Passwords,
        web_sessions: WebSessions,
        attempts: Attempts,
        browsers: KnownBrowsers,
    ) -> None:
        self.database, self.passwords = database, passwords
        self.web_sessions, self.attempts, self.browsers = web_sessions, attempts, browsers

    async def sign_in(self, request: Request, response: Response, login: str, password: str) -> SignedInUser:
        """Begins a web session. Raises WrongCredentials, TooManyAttempts, CrossSiteRequest or NotConfidential.

        Response and effort are the same for an unknown user, a wrong or missing password, and a disabled user.
        """
        self._must_be_safe(request)
        account = account_of(login)
        await self.attempts.spend(login, client_address(request), self.browsers.name(request, account))
        async with self.database.system() as connection:
            found = await SignInCredentials(connection).find(login)
        right = await self.passwords.match(password, found.hash if found else None)
        request.state.audited_user = found.id if found else None
        if not right or found is None or found.hash is None or found.disabled_at:
            raise WrongCredentials
        renewed = await self.passwords.hash(password) if self.passwords.is_outdated(found.hash) else None
        async with self.database.system() as connection:
            if renewed:
                await SignInCredentials(connection).rehash(found.id, found.hash, renewed)
            signed_in = await self.web_sessions.begin(connection, request, response, found.user, "password")
        self.browsers.remember(request, response, account)
        return signed_in

    async def join(self, request: Request, response: Response, body: InvitationSignUp) -> SignedInUser:
        """Accepts an invitation as the signed-in user, or as a new user with a password, who is then signed in.

        Raises PasswordNeeded, PasswordTooCommon, TooManyAttempts, CrossSiteRequest, NotConfidential, and what
        `accounts.joining.join` does.
        """
        self._must_be_safe(request)
        await self.attempts.spend_address(client_address(request))
        user = await self.web_sessions.signed_in(request)
        if user:
            async with self.database.system() as connection:
                joined = await join(connection, body.token, user.user, None)
            request.state.audited_user, request.state.audited_workspace = user.user.id, joined.workspace.id
            return await self.web_sessions.describe(user)
        if body.password is None:
            raise PasswordNeeded
        password = body.password.get_secret_value()
        must_be_uncommon(password, body.name)
        hashed = await self.passwords.hash(password)
        async with self.database.system() as connection:
            joined = await join(connection, body.token, None, body.name)
            await SignInCredentials(connection).put(joined.user.id, hashed)
            request.state.audited_workspace = joined.workspace.id
            return await self.web_sessions.begin(connection, request, response, joined.user, "password")

    async def change(self, request: Request, caller: Authenticated | SignedIn, old: str | None, new: str) -> None:
        """Sets the caller's own password and ends the user's other web sessions.

        Raises NeedsPasswordLink, PasswordMismatch, PasswordTooCommon or TooManyAttempts.
        """
        async with self.database.system() as connection:
            user = await SignInCredentials(connection).of_user(caller.user.id)
        if user is None:
            raise UnknownUser
        if user.hash is None:
            if not (isinstance(caller, Authenticated) and caller.is_admin):
                raise NeedsPasswordLink
        else:
            await self.attempts.spend(user.id.hex, client_address(request))
            if not await self.passwords.match(old or "", user.hash):
                raise PasswordMismatch
        hashed = await self._hashed(new, user)
        async with self.database.system() as connection:
            await self._put(connection, user.id, hashed, but=caller.session_id)

    async def make_link(self, caller: Authenticated, user_id: UUID) -> PasswordLink:
        """Returns a link for a user, which replaces the earlier one. Raises NeedsAdmin or UnknownUser."""
        caller.must_be_admin()
        token = new_secret()
        async with self.database.system() as connection:
            credentials = SignInCredentials(connection)
            user = await credentials.of_user(user_id)
            if user is None or user.disabled_at:
                raise UnknownUser
            expires_at = await credentials.put_link(user_id, secret_sha256(token), caller.user.id, LINK_SECONDS)
        return PasswordLink(user_id=user_id, token=token, expires_at=expires_at)

    async def use_link(self, request: Request, token: str, password: str) -> None:
        """Sets the password of the link's user and ends the user's web sessions.

        Raises UnknownPasswordLink, PasswordTooCommon, NotConfidential or TooManyAttempts. A refused password does not
        use up the link.
        """
        self.web_sessions.must_be_confidential(request)
        await self.attempts.spend(token, client_address(request))
        async with self.database.system() as connection:
            user = await SignInCredentials(connection).find_link(secret_sha256(token))
        if user is None:
            raise UnknownPasswordLink
        request.state.audited_user = user.id
        hashed = await self._hashed(password, user)
        async with self.database.system() as connection:
            if await SignInCredentials(connection).find_link(secret_sha256(token)) is None:
                raise UnknownPasswordLink
            await self._put(connection, user.id, hashed)

    def _must_be_safe(self, request: Request) -> None:
        self.web_sessions.must_be_own_page(request)
        self.web_sessions.must_be_confidential(request)

    async def _hashed(self, password: str, user: PasswordUser) -> str:
        must_be_uncommon(password, user.name, user.email)
        return await self.passwords.hash(password)

    async def _put(self, connection: Connection, user_id: UUID, hashed: str, but: UUID | None = None) -> None:
        credentials = SignInCredentials(connection)
        await credentials.put(user_id, hashed)
        await credentials.delete_link(user_id)
        await WebSessionRows(connection).delete_of_user(user_id, but)
