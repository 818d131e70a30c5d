"""Routes for people's rights: to forget and to export what is known about them."""

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


@router.post("/forget", summary="Forget what is known about something")
async def forget(body: ForgetRequest, caller: Viewer, forgetting: Rights) -> ForgetResponse:
    """Removes the caller's matching memories and everything derived from them, and counts what was removed by table.

    Messages that state a forgotten fact are removed with it, and so are facts that only forgotten messages state. With
    `preview` nothing is removed. Later events and imports do not restore what was forgotten. Only editors can remove
    anything from the workspace's world state; for others `remaining` counts what mentions it there. Session transcripts
    do not change: `transcripts` counts the messages that are still there, and names the sessions to delete.
    """
    return await forgetting.forget(caller, body)


@router.get(
    "/export",
    summary="Export everything that is known about you",
    response_class=StreamingResponse,
    responses={200: {"description": "One object per line", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def export_memories(caller: Viewer, request: Request) -> StreamingResponse:
    """Streams JSON Lines: each line is a memory with its sources, one of the caller's worlds, or an event of its
    history.
    """
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    parts = exported(request.app.state.database, caller)
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=headers)
