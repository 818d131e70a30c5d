"""The gateway's own routes."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from contracts.base import Page, ProblemBody, Text
from contracts.gateway import (
    ApiKey,
    ApiKeyCreate,
    ApiKeyCreated,
    Caller,
    LimitedWorkspace,
    Member,
    MemberPut,
    Status,
    Workspace,
    WorkspaceCreate,
    WorkspaceDeletion,
    WorkspacePatch,
)
from gateway.access.authenticator import Admitted
from gateway.accounts.accounts import Accounts
from gateway.accounts.api_keys import ApiKeys
from gateway.accounts.workspace_deletion import WorkspaceDeletions
from gateway.api import status
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import IdempotencyKey
from service_kit.routes import Responses, from_state
from service_kit.version import VERSION

FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "The caller's role does not allow it"}}
REFUSED: Responses = FORBIDDEN | {404: {"model": ProblemBody, "description": "This key can see no such resource"}}
CONFLICT: Responses = {409: {"model": ProblemBody, "description": "The workspace would be left without an owner"}}
router = APIRouter(prefix="/v1", tags=["gateway"])


UsedAccounts = Annotated[Accounts, from_state("accounts")]
UsedApiKeys = Annotated[ApiKeys, from_state("api_keys")]
UsedDeletions = Annotated[WorkspaceDeletions, from_state("deletions")]


@router.get("/me", summary="Show who is calling")
async def get_me(caller: Admitted) -> Caller:
    """The user, the workspace and the role of the presented key."""
    return caller.describe()


@router.get("/status", summary="Show the state of every service")
async def get_status(_: Admitted, request: Request) -> Status:
    """`degraded` if a service is not ready or does not answer."""
    state = request.app.state
    return await status.ask_all(state.upstreams, state.health, state.status_seconds, VERSION)


@router.post("/workspaces", summary="Create a workspace", status_code=201, responses=FORBIDDEN)
async def create_workspace(
    caller: Admitted, accounts: UsedAccounts, body: WorkspaceCreate, idempotency_key: IdempotencyKey
) -> Workspace:
    """Requires an administrator. The caller becomes the first owner; create a key there to use the workspace."""
    return await accounts.create_workspace(caller, body, idempotency_key)


@router.get("/workspaces", summary="List the workspaces")
async def list_workspaces(
    caller: Admitted, accounts: UsedAccounts, limit: Limit = 50, cursor: Cursor = None
) -> Page[Workspace]:
    """The key's own workspace; all of them for administrators, oldest first."""
    return await accounts.workspaces(caller, limit, cursor)


@router.get("/workspaces/{workspace_id}", summary="Read a workspace", responses=REFUSED)
async def get_workspace(caller: Admitted, accounts: UsedAccounts, workspace_id: UUID) -> LimitedWorkspace:
    """Its name, when it was created, and the limit of its keys: the one in force, and the one that owners have set."""
    return await accounts.workspace(caller, workspace_id)


@router.patch("/workspaces/{workspace_id}", summary="Limit the API keys of a workspace", responses=REFUSED)
async def change_workspace(
    caller: Admitted, accounts: UsedAccounts, workspace_id: UUID, body: WorkspacePatch
) -> LimitedWorkspace:
    """Requires an owner; takes effect with the next request of each key. A lower limit of the operator stays in force.

    It does not apply to people who are signed in with a password or by OpenID Connect.
    """
    return await accounts.change_workspace(caller, workspace_id, body)


@router.delete(
    "/workspaces/{workspace_id}",
    summary="Delete a workspace everywhere",
    responses=REFUSED
    | {
        202: {"model": WorkspaceDeletion, "description": "Some services have not confirmed yet"},
        409: {"model": ProblemBody, "description": "No administrator could get in"},
    },
)
async def delete_workspace(
    caller: Admitted,
    deletions: UsedDeletions,
    response: Response,
    workspace_id: UUID,
    name: Annotated[Text, Query(max_length=200, description="The workspace's name, as a confirmation")],
    timeout: Annotated[float, Query(ge=0, le=300, description="Seconds to wait for the confirmations")] = 30,
) -> WorkspaceDeletion:
    """Requires an owner; cannot be undone. Its keys stop working at once, and each service confirms what it deleted.

    Rejected if no administrator could get in any more, so the last workspace cannot be deleted.
    """
    receipt = await deletions.delete(caller, workspace_id, name, timeout)
    response.status_code = 200 if receipt.completed_at else 202
    return receipt


@router.get("/workspaces/{workspace_id}/receipt", summary="Read the receipt of a deletion", responses=REFUSED)
async def get_workspace_receipt(caller: Admitted, deletions: UsedDeletions, workspace_id: UUID) -> WorkspaceDeletion:
    """The proof of the deletion, for administrators and for the user who deleted the workspace."""
    return await deletions.receipt(caller, workspace_id)


@router.get("/workspaces/{workspace_id}/members", summary="List the members", responses=REFUSED)
async def list_members(
    caller: Admitted, accounts: UsedAccounts, workspace_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[Member]:
    """Requires an owner; lists members in the order they joined."""
    return await accounts.members(caller, workspace_id, limit, cursor)


@router.put(
    "/workspaces/{workspace_id}/members/{user_id}",
    summary="Change a member's role, or add a member",
    responses=REFUSED | CONFLICT,
)
async def put_member(
    caller: Admitted, accounts: UsedAccounts, workspace_id: UUID, user_id: UUID, body: MemberPut
) -> Member:
    """Requires an owner. The member's keys never allow more than the role does.

    Only administrators can add users directly; owners invite.
    """
    return await accounts.put_member(caller, workspace_id, user_id, body)


@router.delete(
    "/workspaces/{workspace_id}/members/{user_id}",
    summary="Remove a member",
    status_code=204,
    responses=REFUSED | CONFLICT,
)
async def remove_member(caller: Admitted, accounts: UsedAccounts, workspace_id: UUID, user_id: UUID) -> None:
    """Requires an owner. Revokes the member's keys of this workspace at once."""
    await accounts.remove_member(caller, workspace_id, user_id)


@router.post(
    "/workspaces/{workspace_id}/keys",
    summary="Create an API key in your own name",
    status_code=201,
    responses=REFUSED
    | {409: {"model": ProblemBody, "description": "It was created, but its secret cannot be shown again"}},
)
async def create_key(
    caller: Admitted,
    api_keys: UsedApiKeys,
    workspace_id: UUID,
    body: ApiKeyCreate,
    idempotency_key: IdempotencyKey,
) -> ApiKeyCreated:
    """Creates a key in the caller's own name, with at most the presented key's role.

    This response is the only one that shows the key itself. Nobody creates keys for others: owners invite.
    """
    return await api_keys.create(caller, workspace_id, body, idempotency_key)


@router.get("/workspaces/{workspace_id}/keys", summary="List the API keys", responses=REFUSED)
async def list_keys(
    caller: Admitted, api_keys: UsedApiKeys, workspace_id: UUID, limit: Limit = 50, cursor: Cursor = None
) -> Page[ApiKey]:
    """Owners see all keys, others their own; oldest first, including revoked and expired ones.

    `last_used_at` is exact to a minute.
    """
    return await api_keys.page(caller, workspace_id, limit, cursor)


@router.delete(
    "/workspaces/{workspace_id}/keys/{key_id}", summary="Revoke an API key", status_code=204, responses=REFUSED
)
async def revoke_key(caller: Admitted, api_keys: UsedApiKeys, workspace_id: UUID, key_id: UUID) -> None:
    """Owners may revoke any key, others their own. It stops working at once; revoking it again is not an error."""
    await api_keys.revoke(caller, workspace_id, key_id)
