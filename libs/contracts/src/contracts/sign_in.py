"""Signing in with a password, and the web sessions that follow."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from contracts.base import Name, Request, Resource, storable
from contracts.gateway import InvitationToken, Role, User, Workspace

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 256


def _storable(secret: SecretStr) -> SecretStr:
    storable(secret.get_secret_value())
    return secret


AnyPassword = Annotated[SecretStr, Field(min_length=1, max_length=LONGEST_PASSWORD), AfterValidator(_storable)]
NewPassword = Annotated[
    SecretStr,
    Field(
        min_length=SHORTEST_PASSWORD,
        max_length=LONGEST_PASSWORD,
        description="12 to 256 characters of any kind; no common password, nor the user's name or e-mail address",
    ),
    AfterValidator(_storable),
]
Login = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=320), AfterValidator(storable)]
LinkToken = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]


class SignInMethods(Resource):
    """How users may sign in besides with a password or an API key; `openid`: at an OpenID Connect provider."""

    openid: bool


class SignIn(Request):
    """`login` is the user's e-mail address or name; if several users share a name, it is the oldest user's."""

    login: Login
    password: AnyPassword


class InvitationSignUp(Request):
    """`name` is the new user's, by default the one in the invitation; a user who is signed in needs neither."""

    token: InvitationToken
    name: Name | None = None
    password: NewPassword | None = None


class PasswordChange(Request):
    """`old_password` is required if a password is already set."""

    old_password: AnyPassword | None = None
    new_password: NewPassword


class PasswordLink(Resource):
    """`token` sets the user's password once, until `expires_at`; only this response shows it."""

    user_id: UUID
    token: str
    expires_at: datetime


class PasswordByLink(Request):
    token: LinkToken
    password: NewPassword


class SignInCode(Resource):
    """`code` signs in once, until `expires_at`; only this response shows it."""

    code: str
    expires_at: datetime


class SignInByCode(Request):
    code: LinkToken


class WebSession(Resource):
    """A user's signed-in browser. It ends at `expires_at`, or earlier if it is not used for a while.

    `last_used_at` is exact to a minute.
    """

    id: UUID
    method: Literal["password", "openid", "key"]
    address: str
    user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


class SignedInUser(Resource):
    """Who is signed in. The cookie is in the response's header, out of a web page's reach."""

    user: User
    session: WebSession


class OwnWorkspace(Resource):
    """A workspace the user belongs to, for use in `X-Workspace-Id`."""

    workspace: Workspace
    role: Role
