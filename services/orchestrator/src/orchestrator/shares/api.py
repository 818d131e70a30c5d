"""Routes of shares. What is shared is read at the gateway, which knows who is a member."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from contracts.base import Page, ProblemBody
from contracts.registry import GATEWAY
from contracts.sharing import (
    SHARES_PATH,
    OpenedShare,
    PresentedShare,
    Share,
    ShareCreate,
    ShareCreated,
    SharingSettings,
    SharingUpdate,
)
from orchestrator.errors import ShareNotFound
from orchestrator.shares.repository import CallerShares
from orchestrator.shares.sharing import SessionSharing
from service_kit.auth import Owner, ServiceCaller, Viewer, called_by
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import STALE, ExpectedVersion, IdempotencyKey, tagged
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1", tags=["orchestrator"])
internal = APIRouter(include_in_schema=False)
REFUSED: Responses = {
    403: {"model": ProblemBody, "description": "Sharing by link is not allowed in this workspace"},
    404: {"model": ProblemBody, "description": "The caller has no such session, or the session has no such message"},
    409: {
        "model": ProblemBody,
        "description": "Nothing to share, too much, an answer in progress, or already shared with this key",
    },
}
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "The caller has no such share"}}
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "The caller is not an owner"}}


UsedSharing = Annotated[SessionSharing, from_state("sharing")]
Gateway = Annotated[ServiceCaller, Depends(called_by(GATEWAY))]


@router.post(
    "/sessions/{session_id}/shares", status_code=status.HTTP_201_CREATED, summary="Share a session", responses=REFUSED
)
async def create_share(
    session_id: UUID, body: ShareCreate, caller: Viewer, using: UsedSharing, key: IdempotencyKey
) -> ShareCreated:
    """Takes a read-only snapshot of the messages up to a given one, and returns its token, only this once.

    Members of the workspace read it with their key; by link, anyone who has the token can, if an owner allows that
    (PATCH /v1/sharing), but without quotes from documents, and without the text of extractive answers, which consist of
    quotes. It ends at `expires_at` (at most a year from now), or when the session, its last message, its user or the
    workspace is deleted.
    """
    return await using.share(caller, session_id, body, key)


@router.get("/shares", summary="List what you share")
async def list_shares(
    caller: Viewer,
    using: UsedSharing,
    session_id: Annotated[UUID | None, Query(description="Only of this session")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Share]:
    """Lists active shares, newest first, without their tokens."""
    async with using.database.workspace(caller.workspace_id) as connection:
        return await CallerShares(connection, caller).page(session_id, limit, cursor)


@router.delete("/shares/{share_id}", status_code=status.HTTP_204_NO_CONTENT, summary="End a share", responses=NOT_FOUND)
async def delete_share(share_id: UUID, caller: Viewer, using: UsedSharing) -> None:
    """Nobody can read it any more."""
    async with using.database.workspace(caller.workspace_id) as connection:
        if not await CallerShares(connection, caller).delete(share_id):
            raise ShareNotFound


@router.get("/sharing", summary="Read whether members may share by link")
async def get_sharing_settings(caller: Viewer, using: UsedSharing, response: Response) -> SharingSettings:
    """The header `ETag` is the version, for If-Match."""
    return tagged(await using.settings(caller.workspace_id), response)


@router.patch("/sharing", summary="Allow sharing by link, or end it", responses={**FORBIDDEN, **STALE})
async def change_sharing_settings(
    body: SharingUpdate, caller: Owner, using: UsedSharing, version: ExpectedVersion, response: Response
) -> SharingSettings:
    """Requires an owner. Without `links`, which is the default, no link can be read, including existing ones."""
    return tagged(await using.change(caller.workspace_id, body.links, version), response)


@internal.post(SHARES_PATH, responses={HTTPStatus.NOT_FOUND: {"model": ProblemBody}})
async def open_share(caller: Gateway, body: PresentedShare, using: UsedSharing) -> OpenedShare:
    opened = await using.open(caller.workspace_id, body)
    if opened is None:
        raise ShareNotFound
    return opened
