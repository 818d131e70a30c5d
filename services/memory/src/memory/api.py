"""Routes of a user's memories in a workspace; to anyone else they do not exist."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from contracts.base import Page, ProblemBody
from contracts.memory import Memory, MemoryCreate, MemoryKind, RecallRequest, RecallResponse
from contracts.registry import ORCHESTRATOR
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from memory.errors import EmbeddingUnavailable, MemoryNotFound
from memory.repository import Embedded, Memories, NewMemory, embed
from service_kit.auth import Editor, Principal, Viewer, viewer_through
from service_kit.idempotency import IdempotencyKeyReused, creation_id
from service_kit.pagination import Cursor, Limit
from service_kit.postgres import Database
from service_kit.request_headers import IdempotencyKey

router = APIRouter(prefix="/v1/memories", tags=["memory"])


def opened_database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def opened_embedder(request: Request) -> Embedder:
    embedder: Embedder = request.app.state.embedder
    return embedder


Stored = Annotated[Database, Depends(opened_database)]
Recalling = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR))]
Embedding = Annotated[Embedder, Depends(opened_embedder)]


@router.get("", summary="List your memories")
async def list_memories(
    caller: Viewer,
    database: Stored,
    kind: Annotated[MemoryKind | None, Query(description="Only this kind")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Memory]:
    """The caller's own memories in the workspace, newest first: episodes of past turns, and notes."""
    async with database.workspace(caller.workspace_id) as connection:
        return await Memories(connection, caller.workspace_id).page(caller.user_id, kind, limit, cursor)


@router.post("", status_code=201, summary="Store a note", responses={409: {"model": ProblemBody}})
async def create_memory(
    body: MemoryCreate, caller: Editor, database: Stored, embedder: Embedding, key: IdempotencyKey
) -> Memory:
    """Stores a note that the caller can recall later. The same `Idempotency-Key` and content return the same note."""
    note = NewMemory(creation_id(caller.user_id, key), MemoryKind.note, body.content, caller.user_id)
    embedded = await _embed(embedder, body.content)
    async with database.workspace(caller.workspace_id) as connection:
        memories = Memories(connection, caller.workspace_id)
        await memories.insert(note, embedded)
        stored = await memories.find(caller.user_id, note.id)
    if stored is None or stored.content != body.content:
        raise IdempotencyKeyReused
    return stored


@router.delete(
    "/{memory_id}", status_code=204, summary="Delete one of your memories", responses={404: {"model": ProblemBody}}
)
async def delete_memory(memory_id: UUID, caller: Viewer, database: Stored) -> Response:
    """Deletes an episode or a note of the caller for good. Every role may: episodes of viewers are kept too."""
    async with database.workspace(caller.workspace_id) as connection:
        if not await Memories(connection, caller.workspace_id).delete(caller.user_id, memory_id):
            raise MemoryNotFound
    return Response(status_code=204)


@router.post("/recall", summary="Recall memories by meaning", responses={503: {"model": ProblemBody}})
async def recall(body: RecallRequest, caller: Recalling, database: Stored, embedder: Embedding) -> RecallResponse:
    """Returns the `k` of the caller's memories that are nearest to the query by cosine similarity, best first."""
    embedded = await _embed(embedder, body.query)
    async with database.workspace(caller.workspace_id) as connection:
        found = await Memories(connection, caller.workspace_id).nearest(caller.user_id, embedded, body.k)
    return RecallResponse(memories=found)


async def _embed(embedder: Embedder, text: str) -> Embedded:
    try:
        return await embed(embedder, text)
    except EmbeddingError as error:
        raise EmbeddingUnavailable from error
