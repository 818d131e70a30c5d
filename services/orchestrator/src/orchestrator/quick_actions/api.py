"""Routes of quick actions."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response, status

from contracts.base import Page, ProblemBody
from contracts.quick_actions import QuickAction, QuickActionCreate, QuickActionUpdate
from orchestrator.quick_actions.repository import CallerQuickActions
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import STALE, ExpectedVersion, tagged
from service_kit.routes import Responses, UsedDatabase

router = APIRouter(prefix="/v1/quick-actions", tags=["orchestrator"])
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "The caller has no such quick action"}}
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "The action is shared, but the caller is a viewer"}}
TOO_MANY: Responses = {409: {"model": ProblemBody, "description": "The maximum number is reached"}}
CHANGED: Responses = {**NOT_FOUND, **FORBIDDEN, **STALE}


@router.post("", status_code=status.HTTP_201_CREATED, summary="Create a quick action", responses=FORBIDDEN | TOO_MANY)
async def create_quick_action(
    body: QuickActionCreate, caller: Viewer, database: UsedDatabase, response: Response
) -> QuickAction:
    """Saves a prompt under a name, for the caller alone or, if `shared`, for all members of the workspace.

    A message with its id as `quick_action` follows its prompt.
    """
    async with database.workspace(caller.workspace_id) as connection:
        return tagged(await CallerQuickActions(connection, caller).create(body), response)


@router.get("", summary="List quick actions")
async def list_quick_actions(
    caller: Viewer, database: UsedDatabase, limit: Limit = 50, cursor: Cursor = None
) -> Page[QuickAction]:
    """Lists the caller's own and the workspace's, oldest first."""
    async with database.workspace(caller.workspace_id) as connection:
        return await CallerQuickActions(connection, caller).page(limit, cursor)


@router.get("/{action_id}", summary="Read a quick action", responses=NOT_FOUND)
async def get_quick_action(action_id: UUID, caller: Viewer, database: UsedDatabase, response: Response) -> QuickAction:
    """Returns it with its version in the `ETag`."""
    async with database.workspace(caller.workspace_id) as connection:
        return tagged(await CallerQuickActions(connection, caller).find(action_id), response)


@router.patch("/{action_id}", summary="Change a quick action", responses=CHANGED)
async def change_quick_action(
    action_id: UUID,
    body: QuickActionUpdate,
    caller: Viewer,
    database: UsedDatabase,
    version: ExpectedVersion,
    response: Response,
) -> QuickAction:
    """Changes the fields that are given. Runs in progress follow the earlier prompt."""
    async with database.workspace(caller.workspace_id) as connection:
        return tagged(await CallerQuickActions(connection, caller).change(action_id, body, version), response)


@router.delete(
    "/{action_id}", status_code=status.HTTP_204_NO_CONTENT, summary="Delete a quick action", responses=CHANGED
)
async def delete_quick_action(
    action_id: UUID, caller: Viewer, database: UsedDatabase, version: ExpectedVersion
) -> None:
    """Texts written with it stay."""
    async with database.workspace(caller.workspace_id) as connection:
        await CallerQuickActions(connection, caller).delete(action_id, version)
