"""The routes of signing in, of web sessions and of passwords."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from contracts.base import Page, ProblemBody
from contracts.sign_in import (
    InvitationSignUp,
    OwnWorkspace,
    PasswordByLink,
    PasswordChange,
    PasswordLink,
    SignedInUser,
    SignIn,
    SignInByCode,
    SignInCode,
    SignInMethods,
    WebSession,
)
from gateway.access.authenticator import Admitted, AdmittedUser
from gateway.accounts.caller import SignedIn
from gateway.errors import NeedsSession
from gateway.signin.password_sign_ins import PasswordSignIns
from gateway.signin.web_sessions import WebSessions
from service_kit.pagination import Cursor, Limit
from service_kit.routes import Responses, from_state

FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "A page of another origin, or no web session"}}
NEEDS_ADMIN: Responses = {403: {"model": ProblemBody, "description": "Needs an administrator"}}
UNKNOWN: Responses = {404: {"model": ProblemBody, "description": "No such code, or it is no longer valid"}}
CLOSED: Responses = {
    404: {"model": ProblemBody, "description": "There is no invitation with this token"},
    409: {"model": ProblemBody, "description": "Accepted already, expired, revoked, or the user is a member"},
}
TOO_MANY: Responses = {
    429: {"model": ProblemBody, "description": "Too many attempts; `Retry-After` says when to try again"}
}
BUSY: Responses = {503: {"model": ProblemBody, "description": "Too many people are signing in at the moment"}}
WRONG: Responses = {401: {"model": ProblemBody, "description": "Wrong name or password"}}
OPEN: dict[str, Any] = {"security": []}
router = APIRouter(prefix="/v1", tags=["gateway"])


async def _signed_in(caller: AdmittedUser) -> SignedIn:
    if not isinstance(caller, SignedIn):
        raise NeedsSession
    return caller


UsedSignIns = Annotated[PasswordSignIns, from_state("sign_ins")]
UsedWebSessions = Annotated[WebSessions, from_state("web_sessions")]
WithSession = Annotated[SignedIn, Depends(_signed_in)]


@router.get("/auth/methods", summary="Show how users may sign in", openapi_extra=OPEN)
async def get_sign_in_methods(request: Request) -> SignInMethods:
    """Tells a sign-in page what to offer; needs no authentication."""
    return SignInMethods(openid=request.app.state.openid_sign_ins is not None)


@router.post(
    "/auth/sign-in",
    summary="Sign in with a password",
    responses=WRONG | FORBIDDEN | TOO_MANY | BUSY,
    openapi_extra=OPEN,
)
async def sign_in(request: Request, response: Response, sign_ins: UsedSignIns, body: SignIn) -> SignedInUser:
    """Begins a web session, whose cookie is in the response; the browser's previous session ends."""
    return await sign_ins.sign_in(request, response, body.login, body.password.get_secret_value())


@router.post("/auth/key", summary="Sign in with an API key", responses=FORBIDDEN)
async def sign_in_with_key(
    request: Request, response: Response, web_sessions: UsedWebSessions, caller: Admitted
) -> SignedInUser:
    """Begins a web session with the rights of the key in `Authorization`, in its workspace; it ends with the key."""
    return await web_sessions.begin_with_key(request, response, caller)


@router.post("/auth/codes", summary="Create a sign-in code", status_code=201, responses=FORBIDDEN)
async def create_sign_in_code(web_sessions: UsedWebSessions, caller: Admitted) -> SignInCode:
    """The page `/#code=<code>` signs a browser in with it, once, within an hour, as the key in `Authorization`."""
    return await web_sessions.create_code(caller)


@router.post("/auth/code", summary="Sign in with a code", responses=FORBIDDEN | UNKNOWN, openapi_extra=OPEN)
async def sign_in_with_code(
    request: Request, response: Response, web_sessions: UsedWebSessions, body: SignInByCode
) -> SignedInUser:
    """Begins a web session with the rights of the code's key, in its workspace; it ends with the key."""
    return await web_sessions.begin_with_code(request, response, body.code)


@router.post(
    "/auth/join",
    summary="Accept an invitation in a browser",
    responses=FORBIDDEN | CLOSED | TOO_MANY | BUSY,
    openapi_extra=OPEN,
)
async def join_with_password(
    request: Request, response: Response, sign_ins: UsedSignIns, body: InvitationSignUp
) -> SignedInUser:
    """Adds the web session's user to the workspace; without a session, creates a user with this password."""
    return await sign_ins.join(request, response, body)


@router.post("/auth/sign-out", summary="End this web session", status_code=204, responses=FORBIDDEN)
async def sign_out(request: Request, response: Response, web_sessions: UsedWebSessions, _: AdmittedUser) -> None:
    """The cookie is no longer valid afterwards."""
    await web_sessions.end_presented(request)
    web_sessions.cookie.delete(request, response)


@router.get("/auth/session", summary="Show who is signed in", responses=FORBIDDEN)
async def get_web_session(web_sessions: UsedWebSessions, user: WithSession) -> SignedInUser:
    """The user and the web session of the cookie."""
    return await web_sessions.describe(user)


@router.get("/auth/workspaces", summary="List your workspaces", responses=FORBIDDEN)
async def list_own_workspaces(
    web_sessions: UsedWebSessions, user: WithSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[OwnWorkspace]:
    """The values for `X-Workspace-Id`, which users with several workspaces must send to other routes."""
    return await web_sessions.workspaces(user, limit, cursor)


@router.get("/auth/sessions", summary="List your web sessions", responses=FORBIDDEN)
async def list_web_sessions(
    web_sessions: UsedWebSessions, user: WithSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[WebSession]:
    """The user's sessions that have not ended, the oldest first."""
    return await web_sessions.of_user(user, limit, cursor)


@router.delete("/auth/sessions", summary="Sign out everywhere", status_code=204, responses=FORBIDDEN)
async def end_web_sessions(
    request: Request, response: Response, web_sessions: UsedWebSessions, user: WithSession
) -> None:
    """Ends all of the user's web sessions, this one included. API keys stay."""
    await web_sessions.end_all(user)
    web_sessions.cookie.delete(request, response)


@router.delete(
    "/auth/sessions/{session_id}", summary="End a web session", status_code=204, responses=FORBIDDEN | UNKNOWN
)
async def end_web_session(web_sessions: UsedWebSessions, user: WithSession, session_id: UUID) -> None:
    """Ends one of the user's own sessions at once."""
    await web_sessions.end(user, session_id)


@router.put("/auth/password", summary="Set your password", status_code=204, responses=FORBIDDEN | TOO_MANY | BUSY)
async def change_password(request: Request, sign_ins: UsedSignIns, caller: AdmittedUser, body: PasswordChange) -> None:
    """Requires the old password; the first is set by link, or with an administrator's key. Ends other web sessions."""
    old = body.old_password.get_secret_value() if body.old_password else None
    await sign_ins.change(request, caller, old, body.new_password.get_secret_value())


@router.post(
    "/users/{user_id}/password-links",
    summary="Create a link to set a password",
    status_code=201,
    responses=NEEDS_ADMIN | UNKNOWN,
)
async def create_password_link(caller: Admitted, sign_ins: UsedSignIns, user_id: UUID) -> PasswordLink:
    """Requires an administrator. The user can set a password with it once, within a day; earlier links stop working."""
    return await sign_ins.make_link(caller, user_id)


@router.post(
    "/auth/password-links",
    summary="Set a password with a link",
    status_code=204,
    responses=FORBIDDEN | UNKNOWN | TOO_MANY | BUSY,
    openapi_extra=OPEN,
)
async def use_password_link(request: Request, sign_ins: UsedSignIns, body: PasswordByLink) -> None:
    """Uses the link up and ends the user's web sessions; the user signs in next."""
    await sign_ins.use_link(request, body.token, body.password.get_secret_value())
