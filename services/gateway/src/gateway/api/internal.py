"""The route that other services call before they erase something; on the private port only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI

from contracts.gateway import WorkspaceState
from contracts.registry import CONFIRM_WORKSPACE_DELETION
from gateway.accounts.workspace_deletion import WorkspaceDeletions
from service_kit import problem_handlers
from service_kit.auth import ServiceCaller, called_by
from service_kit.owners import WORKSPACE_PATH
from service_kit.routes import add_routes, from_state
from service_kit.tokens import Tokens

router = APIRouter(include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(*CONFIRM_WORKSPACE_DELETION))]


@router.get(WORKSPACE_PATH)
async def workspace_state(
    caller: Asking, deletions: Annotated[WorkspaceDeletions, from_state("deletions")]
) -> WorkspaceState:
    return WorkspaceState(is_deleted=await deletions.is_deleted(caller.workspace_id))


def install(private: FastAPI, tokens: Tokens, deletions: WorkspaceDeletions) -> None:
    """Adds the route to the application of the private port."""
    private.state.tokens, private.state.deletions = tokens, deletions
    problem_handlers.install(private)
    add_routes(private, router)
