"""Routes: parse, call, return."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from contracts.base import Page, ProblemBody
from contracts.memory import Memory, MemoryCreate, MemoryKind, RecalledMemory, RecallRequest, RecallResponse
from memory.remember import Memories
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit, decode_cursor, page

router = APIRouter(prefix="/v1/memories", tags=["memory"])


def memories(request: Request) -> Memories:
    found: Memories = request.app.state.memories
    return found


InUse = Annotated[Memories, Depends(memories)]
IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=200)]


@router.get("", summary="List your memories")
async def list_memories(
    caller: Viewer,
    using: InUse,
    kind: Annotated[MemoryKind | None, Query(description="Only this kind")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Memory]:
    """The caller's own memories in the workspace, newest first: episodes of past turns, and notes."""
    found = await using.page(caller, kind, decode_cursor(cursor), limit + 1)
    return page(found, limit, lambda one: (one.created_at, one.id), lambda one: Memory.model_validate(asdict(one)))


@router.post("", status_code=201, summary="Store a note", responses={409: {"model": ProblemBody}})
async def create_memory(
    body: MemoryCreate, caller: Editor, using: InUse, idempotency_key: IdempotencyKey = None
) -> Memory:
    """Keeps a note that the caller can recall later. The same `Idempotency-Key` and content give the same note."""
    return Memory.model_validate(asdict(await using.add_note(caller, body.content, idempotency_key)))


@router.delete(
    "/{memory_id}", status_code=204, summary="Delete one of your memories", responses={404: {"model": ProblemBody}}
)
async def delete_memory(memory_id: UUID, caller: Editor, using: InUse) -> Response:
    """Deletes an episode or a note of the caller for good."""
    await using.delete(caller, memory_id)
    return Response(status_code=204)


@router.post("/recall", summary="Recall memories by meaning", responses={503: {"model": ProblemBody}})
async def recall(body: RecallRequest, caller: Viewer, using: InUse) -> RecallResponse:
    """The `k` of the caller's memories that are nearest to the query, by cosine similarity, best first."""
    found = await using.recall(caller, body.query, body.k)
    return RecallResponse(memories=[RecalledMemory.model_validate(asdict(one)) for one in found])
