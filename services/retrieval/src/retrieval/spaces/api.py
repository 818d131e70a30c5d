"""Routes of embedding spaces: parse, call, return."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from contracts.base import Page, ProblemBody
from contracts.embedding_spaces import EmbeddingSpaceCreate, EmbeddingSpaceState
from retrieval.spaces.lifecycle import SpaceLifecycle
from service_kit.auth import Owner, Viewer
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/embedding-spaces", tags=["retrieval"])
UsedSpaces = Annotated[SpaceLifecycle, from_state("spaces")]
SpaceId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": ProblemBody}}
CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": ProblemBody}}


@router.get("", summary="List the embedding spaces of the workspace")
async def list_spaces(caller: Viewer, spaces: UsedSpaces) -> Page[EmbeddingSpaceState]:
    """Lists spaces that are built or being built; `available` are further configured models. One page."""
    return Page(items=await spaces.all(caller.workspace_id))


@router.post(
    "", summary="Build an embedding space", status_code=202, responses={**CONFLICT, 422: {"model": ProblemBody}}
)
async def create_space(body: EmbeddingSpaceCreate, caller: Owner, spaces: UsedSpaces) -> EmbeddingSpaceState:
    """Embeds every indexed chunk with another configured model, in the background.

    Meanwhile the workspace is searched in its active space, and with `activate` in the new one as soon as that is
    complete. An unknown model is rejected; the problem's `configured` lists the configured ones.
    """
    return await spaces.create(caller.workspace_id, body)


@router.get("/{space_id}", summary="Read an embedding space and its progress", responses=MISSING)
async def show_space(space_id: SpaceId, caller: Viewer, spaces: UsedSpaces) -> EmbeddingSpaceState:
    return await spaces.get(caller.workspace_id, space_id)


@router.post(
    "/{space_id}/activate", summary="Search in this embedding space", status_code=202, responses=MISSING | CONFLICT
)
async def activate_space(space_id: SpaceId, caller: Owner, spaces: UsedSpaces) -> EmbeddingSpaceState:
    """Switches at once if the space is complete (so you can switch back), or else as soon as it is."""
    return await spaces.activate(caller.workspace_id, space_id)


@router.delete("/{space_id}", summary="Delete an embedding space", status_code=202, responses=MISSING | CONFLICT)
async def drop_space(space_id: SpaceId, caller: Owner, spaces: UsedSpaces) -> EmbeddingSpaceState:
    """Deletes its vectors in the background. The active space cannot be deleted."""
    return await spaces.drop(caller.workspace_id, space_id)
