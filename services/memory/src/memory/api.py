"""Routes for a user's memories in a workspace; for anyone else they do not exist."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from contracts.base import Page, ProblemBody
from contracts.memory import (
    Memory,
    MemoryCreate,
    MemoryEdit,
    MemoryKind,
    MemoryProfile,
    MemorySettings,
    RecallRequest,
    RecallResponse,
)
from contracts.registry import ORCHESTRATOR
from memory.errors import MemoryNotFound
from memory.facts.profile import MOST_IN_PROFILE, profile_of
from memory.facts.repository import FactRows
from memory.facts.restating import restate
from memory.preparation import Preparation
from memory.recall.recall import Recall
from memory.repository import Memories, NewMemory
from memory.times import zone
from service_kit.auth import Editor, Owner, Principal, Viewer, viewer_through
from service_kit.idempotency import IdempotencyKeyReused, creation_id
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import IdempotencyKey
from service_kit.routes import UsedDatabase, from_state

router = APIRouter(prefix="/v1/memories", tags=["memory"])


Recalling = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR))]
UsedPreparation = Annotated[Preparation, from_state("preparation")]
UsedRecall = Annotated[Recall, from_state("recall")]


@router.get("", summary="List your memories")
async def list_memories(
    caller: Viewer,
    database: UsedDatabase,
    kind: Annotated[MemoryKind | None, Query(description="Only this kind")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Memory]:
    """Lists the caller's memories in the workspace, newest first: messages, notes, and what derives from them."""
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        return await Memories(connection, caller.workspace_id).page(caller.user_id, kind, limit, cursor)


@router.post("", status_code=201, summary="Store a note", responses={409: {"model": ProblemBody}})
async def create_memory(
    body: MemoryCreate, caller: Editor, database: UsedDatabase, preparation: UsedPreparation, key: IdempotencyKey
) -> Memory:
    """Stores a note that the caller can recall later. The same `Idempotency-Key` and content return the same note."""
    note = NewMemory(creation_id(caller.user_id, key), MemoryKind.note, body.content, caller.user_id)
    [prepared] = await preparation.prepare([body.content], [body.content])
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        memories = Memories(connection, caller.workspace_id)
        await memories.insert(note, prepared)
        stored = await memories.find(caller.user_id, note.id)
    if stored is None or stored.content != body.content:
        raise IdempotencyKeyReused
    return stored


@router.patch("/{memory_id}", summary="Edit or pin one of your memories", responses={404: {"model": ProblemBody}})
async def edit_memory(
    memory_id: UUID, body: MemoryEdit, caller: Editor, database: UsedDatabase, preparation: UsedPreparation
) -> Memory:
    """Changes the text of a note or a fact. Episodes record what was said, so their text cannot be edited.

    A pinned memory is kept regardless of the workspace's `retention_days`, and so are the messages that state a pinned
    fact.
    """
    prepared = await preparation.prepare([body.content], [body.content]) if body.content is not None else []
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        memories = Memories(connection, caller.workspace_id)
        if body.content is not None and not await memories.edit(caller.user_id, memory_id, body.content, prepared[0]):
            raise MemoryNotFound("no note or fact of yours has this id; messages stay as they were said")
        if body.content is not None:
            await restate(FactRows(connection, caller.workspace_id), caller.user_id, memory_id, body.content)
        if body.pinned is not None:
            await memories.pin(caller.user_id, memory_id, pinned=body.pinned)
        edited = await memories.find(caller.user_id, memory_id)
    if edited is None:
        raise MemoryNotFound
    return edited


@router.get("/settings", summary="See how memories are kept")
async def get_settings(caller: Viewer, database: UsedDatabase) -> MemorySettings:
    """Returns whether facts are kept from what is said: at once (`on`), after a review, or not at all; and for how
    long.
    """
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        facts = FactRows(connection, caller.workspace_id)
        return MemorySettings(
            writing=await facts.writing(),
            retention_days=await facts.retention_days(),
        )


@router.put("/settings", summary="Set how memories are kept")
async def set_settings(body: MemorySettings, caller: Owner, database: UsedDatabase) -> MemorySettings:
    """Applies to all users of the workspace: to facts from the next message on, and `retention_days` to everything
    stored.

    Fields not in the body are set to their defaults. What is too old is forgotten within an hour.
    """
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        facts = FactRows(connection, caller.workspace_id)
        await facts.set_writing(body.writing)
        await facts.set_retention(body.retention_days)
    return body


@router.get("/profile", summary="Get what is known about you, for a prompt")
async def profile(
    caller: Recalling,
    database: UsedDatabase,
    token_budget: Annotated[int, Query(ge=1, le=10_000, description="Four bytes count as a token")] = 500,
) -> MemoryProfile:
    """Returns how the caller wants to be answered, and current facts about the caller, newest first."""
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        held = await FactRows(connection, caller.workspace_id).holding(
            caller.user_id, datetime.now(UTC), MOST_IN_PROFILE
        )
    return profile_of(held, token_budget)


@router.post(
    "/{memory_id}/approve", summary="Approve a fact that awaits review", responses={404: {"model": ProblemBody}}
)
async def approve_memory(memory_id: UUID, caller: Editor, database: UsedDatabase) -> Memory:
    """Approves the fact: it is recalled from now on, and ends the fact that it replaces."""
    async with database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
        if not await FactRows(connection, caller.workspace_id).approve(caller.user_id, memory_id):
            raise MemoryNotFound
        approved = await Memories(connection, caller.workspace_id).find(caller.user_id, memory_id)
    if approved is None:
        raise MemoryNotFound
    return approved


@router.post("/recall", summary="Recall memories")
async def recall(body: RecallRequest, caller: Recalling, recalling: UsedRecall) -> RecallResponse:
    """Returns the caller's memories that answer the query, best first; none if nothing is relevant.

    They are ranked by words, meaning, dates and speakers. Facts are those that hold at `as_of`, or now. Near-duplicates
    are folded into the best one. Up to twice `k` are returned if their scores are close to the `k`-th.
    """
    zone(body.time_zone)
    return await recalling.recall(caller.workspace_id, caller.user_id, body)
