"""What other services ask before they erase something; not for callers from outside."""

from __future__ import annotations

from fastapi import APIRouter, Request

from contracts.gateway import WorkspaceState
from gateway.accounts.workspace_deletion import WorkspaceDeletions
from service_kit.auth import Viewer
from service_kit.owners import WORKSPACE_PATH

router = APIRouter(include_in_schema=False)


@router.get(WORKSPACE_PATH)
async def workspace_state(caller: Viewer, request: Request) -> WorkspaceState:
    deletions: WorkspaceDeletions = request.app.state.deletions
    return WorkspaceState(is_deleted=await deletions.is_deleted(caller.workspace_id))
