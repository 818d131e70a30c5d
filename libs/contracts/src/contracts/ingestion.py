"""Documents, their stages, chunks and deletion receipts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, get_args
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Box, LineBox, Request, Resource, Text, storable

UNGRAPHED_PATH = "/internal/ungraphed-documents"  # where the graph asks ingestion

StageName = Literal["store", "convert", "chunk", "embed", "index", "graph"]
"""The stages of a document in their order. A document is searchable after `index`."""

STAGES: tuple[StageName, ...] = get_args(StageName)


class StageStatus(StrEnum):
    waiting = "waiting"  # for the previous stage
    queued = "queued"
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    cancelled = "cancelled"


class DocumentStatus(StrEnum):
    """The state of the newest version; an earlier one may still be searchable (`searchable_version`)."""

    processing = "processing"
    searchable = "searchable"
    failed = "failed"
    cancelled = "cancelled"
    deleting = "deleting"


class EmbeddingStatus(StrEnum):
    """`failed`: found by lexical search only; retried automatically, and by a retry."""

    pending = "pending"
    complete = "complete"
    failed = "failed"


class Lane(StrEnum):
    """Uploads and user requests never wait behind the synchronisation of a source."""

    interactive = "interactive"
    bulk = "bulk"


class OriginKind(StrEnum):
    upload = "upload"
    artifact = "artifact"
    folder = "folder"
    s3 = "s3"
    web = "web"
    git = "git"


class Stage(Resource):
    """`seconds`: how long the last attempt took, or has taken so far. `page` of `pages` while it runs."""

    name: StageName
    status: StageStatus
    lane: Lane
    attempts: int
    queued_at: datetime | None
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    next_attempt_at: datetime | None
    seconds: float | None
    page: int | None
    pages: int | None
    worker: str | None
    error_class: str | None
    error_message: str | None


class Origin(Resource):
    """A document's origin. `path` is unique in its source; `missing_since`: when it was first found missing there."""

    id: UUID
    kind: OriginKind
    source_id: UUID | None
    path: str
    uri: str | None
    seen_at: datetime
    missing_since: datetime | None


class Document(Resource):
    """`content_hash` is the SHA-256 of the original's bytes (hex), `file_size` their number.

    `version` is the newest, `searchable_version` the one that search serves. The `source_` fields describe the
    document's first origin. `stale_at`: when it was marked stale because its source had not been synchronised for too
    long.
    """

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
    tags: list[str]
    language: str | None = Field(description="ISO 639-1; null if it could not be determined.")
    authors: list[str]
    written_at: datetime | None
    modified_at: datetime | None
    pages: int | None
    chunk_count: int | None
    engine: str | None = Field(description="The engine that converted it, for instance docling/rapid-layout.")
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None
    stale_at: datetime | None


class DocumentDetail(Document):
    """`explanation` says in one sentence why the newest version is not searchable yet, or only by lexical search."""

    headings: list[str]
    origins: list[Origin]
    stages: list[Stage]
    explanation: str | None


Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(storable)]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(storable)]


class DocumentUpdate(Request):
    """Changes the fields that are given. The title and tags of a document are its file's until they are changed here;
    after that, a new version of the file no longer changes them.
    """

    title: Title | None = None
    tags: Annotated[list[Tag], Field(max_length=50)] | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> DocumentUpdate:
        if self.title is None and self.tags is None:
            raise ValueError("give a title, or tags, or both")
        return self


class DocumentVersion(Resource):
    """A version of a document. `superseded_at`: when a later one replaced it in search; its files are then deleted."""

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


class DocumentFilter(Request):
    """Selects the documents of an action; a document must match every field given, and at least one is required."""

    document_ids: Annotated[list[UUID], Field(max_length=10_000)] | None = None
    source_id: UUID | None = None
    status: DocumentStatus | None = None
    embedding_status: EmbeddingStatus | None = None
    error_class: Annotated[Text, Field(max_length=100)] | None = None

    @model_validator(mode="after")
    def _limits_something(self) -> DocumentFilter:
        if not self.model_fields_set:
            raise ValueError("give at least one of document_ids, source_id, status, embedding_status, error_class")
        return self


class ActionResult(Resource):
    """How many documents an action changed, and how many it skipped because there was nothing to do."""

    done: int
    passed_over: int


class WaitingForWorker(Resource):
    """Documents waiting for a worker, and how long the oldest of them has waited."""

    documents: int
    oldest_seconds: float


class DocumentSummary(Resource):
    """Counts of documents. `done_last_minute` counts indexed versions; `seconds_left` is null if unknown."""

    total: int
    by_status: dict[DocumentStatus, int]
    by_stage: dict[StageName, int] = Field(description="Documents queued or running in each stage.")
    embedding_failed: int
    failures: dict[str, int] = Field(description="Failed documents by error class.")
    queued_bytes: int
    done_last_minute: int
    seconds_left: float | None
    workers: int | None = Field(default=None, description="Live workers in the whole deployment.")
    lanes: dict[Lane, WaitingForWorker] = {}


QuotaLimit = Annotated[int, Field(ge=1, le=10**15)]


class QuotaChoice(Request):
    """The limits that owners set for their workspace. A field that is not given stays as it is; null removes a limit.

    `bytes` are those of the originals.
    """

    documents: QuotaLimit | None = None
    bytes: QuotaLimit | None = None
    sources: QuotaLimit | None = None


class QuotaState(Resource):
    """`most` is the limit in force, `chosen` the one that owners have set; null means none.

    They differ where the operator's limit is lower.
    """

    used: int
    most: int | None
    chosen: int | None


class WorkspaceQuota(Resource):
    """What a workspace has and may have: documents, bytes of their originals, and sources."""

    documents: QuotaState
    bytes: QuotaState
    sources: QuotaState


class UploadedFile(Resource):
    """The result for one file: a document (`created` is false if its bytes already existed) or an error.

    The `name` of a file from an archive begins with the archive's name.
    """

    name: str
    document: Document | None = None
    created: bool = False
    new_version: bool = False
    error: str | None = Field(default=None, description="Stable slug, for instance empty-file or unsupported-format.")
    message: str | None = None


class Upload(Resource):
    files: list[UploadedFile]


class Chunk(Resource):
    """A chunk of a document.

    `chunk_id` is the first 32 hex digits of a SHA-256 over document, content and an ordinal for repeats: an unchanged
    chunk keeps its id in later versions. `content` is the chunk's text; the heading path is put before it for
    embedding. For slides and sheets, `page` is their number. `box` is left, top, right, bottom in points from the
    page's upper left corner, on the first page; `boxes` has each of its lines, scanned ones too, with its page.
    `cells` is the range of the table in its sheet, such as A1:D20. Lines count from 1. `markdown_start` and
    `markdown_end` are where it stands in the document's Markdown, in characters (code points); null if it is written
    otherwise there. The header that a part of a table repeats is left out.
    """

    chunk_id: str
    document_id: UUID
    chunk_index: int
    section_title: str | None = None
    heading_path: list[str] = []
    content: str
    token_count: int
    page: int | None = None
    page_end: int | None = None
    box: Box | None = None
    boxes: list[LineBox] = []
    line_start: int | None = None
    line_end: int | None = None
    cells: str | None = None
    markdown_start: int | None = None
    markdown_end: int | None = None


def embedding_text(heading_path: Sequence[str], content: str) -> str:
    """Returns the text to embed for a chunk: its headings, outermost first, one per line, then the content."""
    return "\n".join([*heading_path, content])


class DocumentIds(Resource):
    document_ids: list[UUID] = Field(max_length=1000)


class DeletedDocuments(Resource):
    """Which of the given documents are deleted."""

    deleted: list[UUID]


class UngraphedDocuments(Resource):
    """Counts the workspace's documents whose newest version is not in the knowledge graph yet, but will be."""

    documents: int


class StoreReceipt(Resource):
    """What one service deleted, by kind, and what it still holds afterwards (0 proves the deletion)."""

    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime


class DeletionReceipt(Resource):
    """`completed_at` is set when every service has confirmed."""

    document_id: UUID
    requested_at: datetime
    completed_at: datetime | None
    pending: list[str]
    services: list[StoreReceipt]
