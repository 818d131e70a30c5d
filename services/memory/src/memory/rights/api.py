"""Routes of people's rights: to have forgotten, and handed over, what is known of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from contracts.memory import ForgetRequest, ForgetResponse
from memory.rights.exporting import MEDIA_TYPE, exported
from memory.rights.forgetting import Forgetting
from service_kit.auth import Viewer

router = APIRouter(prefix="/v1/memories", tags=["memory"])


def opened_forgetting(request: Request) -> Forgetting:
    forgetting: Forgetting = request.app.state.forgetting
    return forgetting


Rights = Annotated[Forgetting, Depends(opened_forgetting)]


@router.post("/forget", summary="Forget what is known of something")
async def forget(body: ForgetRequest, caller: Viewer, forgetting: Rights) -> ForgetResponse:
    """Removes the caller's memories that are meant, and what was derived from them, and counts what is gone by table.

    Facts take along the messages that state them, and messages the facts that no other one states. With `preview`
    nothing goes. What an event or an import tells again later stays forgotten. In the workspace's world state only
    editors have something removed; for others `remaining` counts what mentions it there. Transcripts of sessions are
    not touched: `transcripts` counts the messages that still stand there, and names the sessions to delete for that.
    """
    return await forgetting.forget(caller, body)


@router.get(
    "/export",
    summary="Export all that is known of you",
    response_class=StreamingResponse,
    responses={200: {"description": "A line each", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def export_memories(caller: Viewer, request: Request) -> StreamingResponse:
    """Streams JSON Lines: each has a memory with its sources, a world of the caller's, or an event of its history."""
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    parts = exported(request.app.state.database, caller)
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=headers)
