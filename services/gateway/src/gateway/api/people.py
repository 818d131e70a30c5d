"""The routes of users and invitations."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request

from contracts.base import Page, ProblemBody
from contracts.gateway import (
    Invitation,
    InvitationAccept,
    InvitationAccepted,
    InvitationCreate,
    InvitationCreated,
    User,
    UserCreate,
    UserPatch,
)
from gateway.access.authenticator import Admitted, AdmittedIfKnown, UsedAuthenticator
from gateway.accounts.inviting import Inviting
from gateway.accounts.joining import Joining
from gateway.accounts.user_administration import UserAdministration
from gateway.api.routes import FORBIDDEN, REFUSED
from gateway.errors import UnknownInvitation
from gateway.signin.origins import WebOrigins
from gateway.web.files import WebFiles
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import IdempotencyKey
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1", tags=["gateway"])
LAST: Responses = {
    409: {"model": ProblemBody, "description": "No administrator could get in any more, or the e-mail address is taken"}
}
TAKEN: Responses = {409: {"model": ProblemBody, "description": "Another user has this e-mail address"}}
ORPHANED: Responses = {
    409: {"model": ProblemBody, "description": "No administrator could get in, or a workspace would have no owner"}
}
REPEATED: Responses = {409: {"model": ProblemBody, "description": "It already exists; its token is not shown again"}}
CLOSED: Responses = {
    404: {"model": ProblemBody, "description": "There is no invitation with this token"},
    409: {"model": ProblemBody, "description": "Accepted already, expired, revoked, or the user is a member"},
    429: {"model": ProblemBody, "description": "Too many failed attempts from this address"},
}


UsedUsers = Annotated[UserAdministration, from_state("users")]
UsedInviting = Annotated[Inviting, from_state("inviting")]
UsedJoining = Annotated[Joining, from_state("joining")]


@router.post("/users", summary="Create a user", status_code=201, responses=FORBIDDEN | TAKEN)
async def create_user(caller: Admitted, users: UsedUsers, body: UserCreate, idempotency_key: IdempotencyKey) -> User:
    """Requires an administrator. The user has no key, and nobody else can create one: invite people instead."""
    return await users.create(caller, body, idempotency_key)


@router.get("/users", summary="List the users", responses=FORBIDDEN)
async def list_users(caller: Admitted, users: UsedUsers, limit: Limit = 50, cursor: Cursor = None) -> Page[User]:
    """Requires an administrator; lists the oldest first."""
    return await users.page(caller, limit, cursor)


@router.patch("/users/{user_id}", summary="Disable, enable or promote a user", responses=REFUSED | LAST)
async def change_user(caller: Admitted, users: UsedUsers, user_id: UUID, body: UserPatch) -> User:
    """Requires an administrator. A disabled user's keys stop working at once, and work again when the user is enabled.

    The last active administrator with a valid owner's key stays one.
    """
    return await users.change(caller, user_id, body)


@router.delete("/users/{user_id}", summary="Delete a user", status_code=204, responses=REFUSED | ORPHANED)
async def delete_user(caller: Admitted, users: UsedUsers, user_id: UUID) -> None:
    """Requires an administrator. Deletes the user's memberships, keys and invitations.

    The user's work in workspaces stays, under the user's id. Rejected while the user is the only owner of a workspace
    (`workspaces` in the problem), or the last administrator who can get in.
    """
    await users.delete(caller, user_id)


@router.post(
    "/workspaces/{workspace_id}/invitations",
    summary="Invite a person to a workspace",
    status_code=201,
    responses=REFUSED | REPEATED,
)
async def create_invitation(
    request: Request,
    caller: Admitted,
    inviting: UsedInviting,
    workspace_id: UUID,
    body: InvitationCreate,
    idempotency_key: IdempotencyKey,
) -> InvitationCreated:
    """Requires an owner. Returns the one-time token and its link, only this once. No e-mail is sent: pass it on."""
    made = await inviting.invite(caller, workspace_id, body, idempotency_key)
    pages: WebFiles = request.app.state.web_files
    if pages.index() is None:
        return made
    origins: WebOrigins = request.app.state.web_sessions.origins
    place = origins.public_origin or str(request.base_url).rstrip("/")
    return made.model_copy(update={"link": f"{place}/join#{made.token}"})


@router.get("/workspaces/{workspace_id}/invitations", summary="List the invitations", responses=REFUSED)
async def list_invitations(
    caller: Admitted, inviting: UsedInviting, workspace_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[Invitation]:
    """Requires an owner; lists the oldest first, including those no longer open."""
    return await inviting.page(caller, workspace_id, limit, cursor)


@router.delete(
    "/workspaces/{workspace_id}/invitations/{invitation_id}",
    summary="Revoke an invitation",
    status_code=204,
    responses=REFUSED,
)
async def revoke_invitation(caller: Admitted, inviting: UsedInviting, workspace_id: UUID, invitation_id: UUID) -> None:
    """Requires an owner. Ends it at once; to undo an accepted invitation, remove the member instead."""
    await inviting.revoke(caller, workspace_id, invitation_id)


@router.post("/invitations/accept", summary="Accept an invitation", status_code=201, responses=FORBIDDEN | CLOSED)
async def accept_invitation(
    request: Request,
    caller: AdmittedIfKnown,
    authenticator: UsedAuthenticator,
    joining: UsedJoining,
    body: InvitationAccept,
) -> InvitationAccepted:
    """Adds the API key's user to the workspace; without a key, a new user is created and added.

    Returns a key of the workspace, shown only this once. Wrong tokens count as failed authentications from the address.
    """
    try:
        return await joining.accept(caller, body)
    except UnknownInvitation:
        await authenticator.count_failure(request)
        raise
