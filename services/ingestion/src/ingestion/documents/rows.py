"""Rows of documents, stages, versions and origins, and the API resources built from them.

The fields of a row class are the columns that its queries select.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from contracts.ingestion import (
    Document,
    DocumentStatus,
    DocumentVersion,
    EmbeddingStatus,
    Lane,
    Origin,
    OriginKind,
    Stage,
    StageName,
    StageStatus,
)

UNKEYED = "sha256:"


@dataclass(frozen=True)
class DocumentRow:
    """A document's newest version. Until it is converted, fields from the conversion are the previous version's."""

    id: UUID
    workspace_id: UUID
    name: str
    title: str | None
    media_type: str
    file_size: int
    content_hash: str
    status: DocumentStatus
    version: int
    searchable_version: int | None
    embedding_status: EmbeddingStatus
    source_type: OriginKind
    source_id: UUID | None
    source_name: str | None
    source_path: str | None
    source_uri: str | None
    source_ids: list[UUID]
    tags: list[str]
    language: str | None
    authors: list[str]
    headings: list[str]
    written_at: datetime | None
    modified_at: datetime | None
    pages: int | None
    chunk_count: int | None
    engine: str | None
    embedding_model: str | None
    embedding_dims: int | None
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None
    stale_at: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", DocumentStatus(self.status))  # the database returns text
        object.__setattr__(self, "embedding_status", EmbeddingStatus(self.embedding_status))
        object.__setattr__(self, "source_type", OriginKind(self.source_type))

    def resource(self) -> Document:
        return Document.model_validate(self, from_attributes=True)


@dataclass(frozen=True)
class StageRow:
    document_id: UUID
    name: StageName
    status: StageStatus
    lane: Lane
    attempts: int
    queued_at: datetime | None
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    available_at: datetime
    worker: str | None
    error_class: str | None
    error_message: str | None
    page: int | None
    pages: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", StageStatus(self.status))  # the database returns text
        object.__setattr__(self, "lane", Lane(self.lane))

    @property
    def waits_for_worker(self) -> bool:
        return self.status is StageStatus.queued and self.name in {"convert", "embed"}

    @property
    def next_attempt_at(self) -> datetime | None:
        """The time at which a postponed stage becomes due; None if it is not postponed."""
        is_postponed = self.status is StageStatus.queued and self.available_at > datetime.now(UTC)
        return self.available_at if is_postponed else None

    @property
    def seconds(self) -> float | None:
        """The duration of the last attempt, or of the current one so far."""
        if self.started_at is None:
            return None
        if self.status is StageStatus.running:
            return max((datetime.now(UTC) - self.started_at).total_seconds(), 0.0)
        return None if self.finished_at is None else max((self.finished_at - self.started_at).total_seconds(), 0.0)

    def resource(self) -> Stage:
        return Stage.model_validate(self, from_attributes=True)


@dataclass(frozen=True)
class OriginRow:
    """A place a document comes from. If a user deleted its document, it is excluded and has no `document_id`."""

    id: UUID
    workspace_id: UUID
    kind: OriginKind
    source_id: UUID | None
    path: str
    uri: str | None
    name: str
    document_id: UUID | None
    fingerprint: str | None
    content_hash: str | None
    excluded: bool
    created_at: datetime
    seen_at: datetime
    missing_since: datetime | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", OriginKind(self.kind))  # the database returns text

    @property
    def is_unkeyed(self) -> bool:
        """Returns whether this is an upload without a key, identified by its bytes."""
        return self.kind is OriginKind.upload and self.path.startswith(UNKEYED)

    def resource(self) -> Origin:
        return Origin.model_validate(self, from_attributes=True)


@dataclass(frozen=True)
class VersionRow:
    version: int
    name: str
    title: str | None
    file_size: int
    content_hash: str
    pages: int | None
    chunk_count: int | None
    engine: str | None
    created_at: datetime
    indexed_at: datetime | None
    superseded_at: datetime | None

    def resource(self) -> DocumentVersion:
        return DocumentVersion.model_validate(self, from_attributes=True)


@dataclass(frozen=True)
class ClaimedStage:
    """A stage that a worker has just leased; the document's version is not known yet."""

    workspace_id: UUID
    document_id: UUID
    lease_token: UUID


@dataclass(frozen=True)
class HeldStage(ClaimedStage):
    """A stage that a worker holds. Every write is guarded by `lease_token`; the other fields describe `version`.

    `chosen` is the (model, dims) with which the workspace is searched; None for the default.
    """

    stage: StageName
    lane: Lane
    postponements: int
    losses: int
    traceparent: str | None
    name: str
    title: str | None
    media_type: str
    file_size: int
    content_hash: str
    version: int
    chosen_model: str | None = None
    chosen_dims: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lane", Lane(self.lane))  # the database returns text

    @property
    def chosen(self) -> tuple[str, int] | None:
        return (self.chosen_model, self.chosen_dims) if self.chosen_model and self.chosen_dims else None


@dataclass(frozen=True)
class DocumentKey:
    workspace_id: UUID
    document_id: UUID


def columns(row_class: type[Any]) -> str:
    """Returns the column list of a row class."""
    return ", ".join(field.name for field in fields(row_class))
