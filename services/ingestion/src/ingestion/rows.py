"""Rows as the database gives them, and the resources that callers see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.ingestion import STAGES, Document, DocumentStatus, Stage, StageName, StageStatus


@dataclass(frozen=True)
class DocumentRow:
    id: UUID
    workspace_id: UUID
    name: str
    title: str | None
    media_type: str
    bytes: int
    content_hash: str
    status: DocumentStatus
    version: int
    pages: int | None
    chunk_count: int | None
    engine: str | None
    embedding_model: str | None
    embedding_dims: int | None
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", DocumentStatus(self.status))  # the database gives text

    def resource(self) -> Document:
        return Document.model_validate(self, from_attributes=True)


@dataclass(frozen=True)
class StageRow:
    name: StageName
    status: StageStatus
    attempts: int
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    worker: str | None
    error_class: str | None
    error_message: str | None
    page: int | None
    pages: int | None
    not_before: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", StageStatus(self.status))  # the database gives text

    def resource(self) -> Stage:
        return Stage.model_validate(self, from_attributes=True)


def in_order(stages: list[StageRow]) -> list[StageRow]:
    return sorted(stages, key=lambda stage: STAGES.index(stage.name))


@dataclass(frozen=True)
class Job:
    """A stage that a worker holds: nothing is written for it without its `lease`."""

    workspace_id: UUID
    document_id: UUID
    stage: StageName
    lease: UUID
    postponements: int
    losses: int
    name: str
    title: str | None
    media_type: str
    content_hash: str
    version: int


@dataclass(frozen=True)
class DocumentKey:
    workspace_id: UUID
    document_id: UUID
