"""Routes for people's rights: to forget and to export what is known about them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from contracts.base import ProblemBody
from contracts.memory import ForgetRequest, ForgetResponse
from memory.episodes.turn_events import TurnEvents
from memory.errors import MemoryNotFound
from memory.rights.exporting import MEDIA_TYPE, exported
from memory.rights.forgetting import Forgetting
from memory.rights.world_mentions import forget_with_topics
from service_kit.auth import Viewer
from service_kit.routes import UsedDatabase, from_state

router = APIRouter(prefix="/v1/memories", tags=["memory"])


UsedForgetting = Annotated[Forgetting, from_state("forgetting")]


@router.post("/forget", summary="Forget what is known about something")
async def forget(body: ForgetRequest, caller: Viewer, forgetting: UsedForgetting) -> ForgetResponse:
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
async def export_memories(caller: Viewer, database: UsedDatabase) -> StreamingResponse:
    """Streams JSON Lines: each line is a memory with its sources, one of the caller's worlds, or an event of its
    history.
    """
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    parts = exported(database, caller)
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=headers)


@router.delete(
    "/{memory_id}", status_code=204, summary="Delete one of your memories", responses={404: {"model": ProblemBody}}
)
async def delete_memory(
    memory_id: UUID,
    caller: Viewer,
    database: UsedDatabase,
    turn_events: Annotated[TurnEvents, from_state("turn_events")],
) -> Response:
    """Permanently deletes one of the caller's memories. Any role may do so, because viewers have memories, too."""
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        if not await forget_with_topics(connection, caller.workspace_id, caller.user_id, [memory_id]):
            raise MemoryNotFound
        await turn_events.erase(caller.workspace_id, [memory_id])
    return Response(status_code=204)
