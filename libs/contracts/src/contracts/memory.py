"""Long-term memories: episodes from turns, and what users store themselves."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from contracts.base import Question, Request, Resource, Text


class MemoryKind(StrEnum):
    episode = "episode"  # what was asked and answered in one turn
    note = "note"  # what a user stored


class MemoryCreate(Request):
    content: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]


class Memory(Resource):
    """`document_ids` are the documents that it derives from; it is deleted with the last of them."""

    id: UUID
    kind: MemoryKind
    content: str
    session_id: UUID | None
    document_ids: list[UUID]
    created_by: UUID
    created_at: datetime


class RecallRequest(Request):
    query: Question
    k: Annotated[int, Field(ge=1, le=50)] = 5


class RecalledMemory(Memory):
    """`score` is the cosine similarity to the query."""

    score: float


class RecallResponse(Resource):
    memories: list[RecalledMemory]
