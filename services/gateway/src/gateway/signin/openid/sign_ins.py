"""Sends users to the provider and handles their return."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from contracts.base import storable
from contracts.gateway import User
from contracts.random_secrets import new_secret, secret_sha256
from gateway.accounts.caller import SignedIn
from gateway.accounts.joining import join
from gateway.accounts.users import Users
from gateway.client_address import client_address
from gateway.errors import (
    IdentityTaken,
    NeedsSession,
    NotInvited,
    OpenIdRefused,
    OpenIdRequestUnknown,
    OpenIdTokenInvalid,
)
from gateway.signin.attempts import Attempts
from gateway.signin.openid.id_token import verified_claims
from gateway.signin.openid.identities import BegunSignIn, Identities
from gateway.signin.openid.provider import OpenIdProvider
from gateway.signin.openid.state_cookie import Begun, StateCookie
from gateway.signin.web_sessions import WebSessions
from service_kit.postgres import Connection, Database

SECONDS_AT_PROVIDER = 600
SCOPES = "openid profile email"
LONGEST_NAME = 200


@dataclass(frozen=True)
class ProviderAnswer:
    """The parameters of the provider's redirect."""

    state: str
    code: str | None
    error: str | None
    issuer: str | None


class OpenIdSignIns:
    """`domains`: users with a verified e-mail address in one of them need no invitation."""

    def __init__(
        self,
        database: Database,
        provider: OpenIdProvider,
        web_sessions: WebSessions,
        attempts: Attempts,
        domains: Collection[str],
    ) -> None:
        self.database, self.provider = database, provider
        self.web_sessions, self.attempts = web_sessions, attempts
        self.domains = frozenset(domain.lower() for domain in domains)
        self.cookie = StateCookie(web_sessions.origins, SECONDS_AT_PROVIDER)

    async def begin(self, request: Request, invitation: str | None, link: bool) -> Response:
        """Redirects to the provider. With `link`, the user who is signed in can then also sign in there.

        Raises TooManyAttempts, OpenIdProviderSilent, and with `link` NeedsSession or SessionEnded.
        """
        await self.attempts.spend_address(client_address(request))
        user = await self.web_sessions.signed_in(request) if link else None
        if link and not isinstance(user, SignedIn):  # a key must not be enough to link a sign-in to its user
            raise NeedsSession
        registration, description = self.provider.registration, await self.provider.description()
        state, nonce, code_verifier = new_secret(), new_secret(), new_secret()
        async with self.database.system() as connection:
            user_id = user.user.id if user else None
            await Identities(connection).begin(secret_sha256(state), nonce, code_verifier, user_id, SECONDS_AT_PROVIDER)
        query = {
            "response_type": "code",
            "client_id": registration.client_id,
            "redirect_uri": registration.redirect_uri,
            "scope": SCOPES,
            "state": state,
            "nonce": nonce,
            "code_challenge": _challenge(code_verifier),
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in description.authorization_endpoint else "?"
        response = RedirectResponse(description.authorization_endpoint + separator + urlencode(query), 303)
        self.cookie.write(request, response, Begun(state, invitation))
        return response

    async def finish(self, request: Request, response: Response, answer: ProviderAnswer) -> None:
        """Begins a web session for the provider's user, in the response's cookie.

        Raises OpenIdRequestUnknown, OpenIdRefused, OpenIdTokenInvalid, OpenIdProviderSilent, NotInvited, IdentityTaken
        or what `join` does.
        """
        begun = self.cookie.read(request)
        self.cookie.delete(request, response)
        if begun is None or not hmac.compare_digest(begun.state.encode(), answer.state.encode()):
            raise OpenIdRequestUnknown
        async with self.database.system() as connection:
            sign_in = await Identities(connection).take(secret_sha256(answer.state))
        if sign_in is None:
            raise OpenIdRequestUnknown
        claims = await self._claims(answer, sign_in)
        async with self.database.system() as connection:
            user = await self._user(connection, claims, sign_in, begun.invitation)
            if user.disabled_at is not None:
                raise NotInvited
            await self.web_sessions.begin(connection, request, response, user, "openid")

    async def _claims(self, answer: ProviderAnswer, sign_in: BegunSignIn) -> Mapping[str, Any]:
        description = await self.provider.description()
        named = answer.issuer is not None or description.authorization_response_iss_parameter_supported
        if named and answer.issuer != description.issuer:  # mix-up: RFC 9207
            raise OpenIdRefused("the answer comes from another provider")
        if answer.error is not None or answer.code is None:
            raise OpenIdRefused(f"it says {answer.error}" if answer.error else "it sent no code")
        tokens = await self.provider.exchange(answer.code, sign_in.code_verifier)
        claims = await verified_claims(self.provider, tokens.id_token, sign_in.nonce)
        if "email" not in claims and tokens.access_token:
            more = await self.provider.user_info(tokens.access_token)
            if more and more.get("sub") != claims["sub"]:
                raise OpenIdTokenInvalid("the provider describes another user")
            claims = {**more, **claims}
        return claims

    async def _user(
        self, connection: Connection, claims: Mapping[str, Any], sign_in: BegunSignIn, invitation: str | None
    ) -> User:
        """Returns the identity's user; a new identity goes to a user who is signed in, invited or admissible.

        An e-mail address never identifies a user.
        """
        identities, issuer, subject = Identities(connection), self.provider.registration.issuer, claims["sub"]
        known = await identities.user(issuer, subject)
        if known and sign_in.user_id not in (None, known.id):
            raise IdentityTaken
        if known and invitation:
            return (await join(connection, invitation, known, None)).user
        if known:
            return known
        user = await self._newcomer(connection, claims, sign_in, invitation)
        await identities.link(issuer, subject, user.id)
        return user

    async def _newcomer(
        self, connection: Connection, claims: Mapping[str, Any], sign_in: BegunSignIn, invitation: str | None
    ) -> User:
        users = Users(connection)
        signed_in = await users.find(sign_in.user_id) if sign_in.user_id else None
        if invitation:
            return (await join(connection, invitation, signed_in, _name(claims))).user
        if signed_in:
            return signed_in
        if _domain(claims) not in self.domains:
            raise NotInvited
        user = await users.insert(uuid4(), _name(claims))
        assert user is not None, "a new random id is free"
        return user


def _challenge(code_verifier: str) -> str:
    """Returns the S256 code challenge of RFC 7636."""
    return base64.urlsafe_b64encode(hashlib.sha256(code_verifier.encode()).digest()).decode().rstrip("=")


def _domain(claims: Mapping[str, Any]) -> str | None:
    """Returns the domain of the e-mail address if the provider has verified that the user owns it."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str) or email.count("@") != 1:
        return None
    return email.partition("@")[2].lower()


def _name(claims: Mapping[str, Any]) -> str:
    for claim in ("name", "preferred_username", "email", "sub"):
        value = claims.get(claim)
        if isinstance(value, str) and (text := _storable(value).strip()[:LONGEST_NAME].strip()):
            return text
    return "user"


def _storable(text: str) -> str:
    return storable("".join(character for character in text if character.isprintable()))
