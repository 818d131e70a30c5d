"""Sessions, messages, runs and citations."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from contracts.base import Name, Question, Request, Resource


class AnswerMode(StrEnum):
    """`model`: written by the chat model from what was found. `extractive`: quoted sentences, without a model."""

    model = "model"
    extractive = "extractive"


class RunStatus(StrEnum):
    queued = "queued"
    running = "running"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"

    @property
    def ended(self) -> bool:
        return self in {RunStatus.completed, RunStatus.failed, RunStatus.cancelled}


class Citation(Resource):
    """A checked citation: `quote` is characters `start` to `end` of the chunk's content; `number` its marker, [1]."""

    number: int
    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None
    section: str | None = Field(description="The heading path, joined by ' > '.")
    page: int | None
    line_start: int | None
    line_end: int | None
    quote: str
    start: int
    end: int


class SessionCreate(Request):
    title: Name | None = None


class SessionUpdate(Request):
    title: Name


class Session(Resource):
    """A conversation that only its user sees. `version` goes into If-Match when it is changed."""

    id: UUID
    title: str | None
    created_at: datetime
    updated_at: datetime
    version: int


class SessionDocument(Resource):
    """A document attached to a session, whose answers and searches with the scope `session` are limited to these."""

    document_id: UUID
    attached_at: datetime


class MessageRole(StrEnum):
    user = "user"
    assistant = "assistant"


class Message(Resource):
    """`removed_citations` counts the citations of the answer that failed the check."""

    id: UUID
    session_id: UUID
    run_id: UUID | None
    role: MessageRole
    content: str
    citations: list[Citation] = []
    removed_citations: int = 0
    mode: AnswerMode | None = None
    created_at: datetime


class MessageCreate(Request):
    """`document_ids` limits what the answer may draw on, within the documents attached to the session if any are."""

    content: Question
    document_ids: Annotated[list[UUID], Field(max_length=1_000)] | None = None


class Run(Resource):
    """`node_trace` lists the graph's nodes in the order in which they ended, `issues` the problems on the way.

    `error_type` of a failed run is `internal-error` or `attempts-exhausted` (each process that worked on it ended).
    """

    id: UUID
    session_id: UUID
    status: RunStatus
    mode: AnswerMode | None
    attempts: int
    node_trace: list[str]
    issues: list[str]
    error_type: str | None
    error_message: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    answer: Message | None = None
