"""Documents, their stages, chunks and deletion receipts."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal, get_args
from uuid import UUID

from pydantic import Field

from contracts.base import Resource

StageName = Literal["store", "convert", "chunk", "embed", "index", "graph"]
"""The stages of a document, in their order. A document is searchable after `index`."""

STAGES: tuple[StageName, ...] = get_args(StageName)


class StageStatus(StrEnum):
    waiting = "waiting"  # for the stage before it
    queued = "queued"
    running = "running"
    succeeded = "succeeded"
    failed = "failed"


class DocumentStatus(StrEnum):
    processing = "processing"
    searchable = "searchable"
    failed = "failed"
    deleting = "deleting"


class Stage(Resource):
    name: StageName
    status: StageStatus
    attempts: int
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    worker: str | None
    error_class: str | None
    error_message: str | None


class Document(Resource):
    """`content_hash` is the SHA-256 of the original's bytes (hex); `bytes` its size."""

    id: UUID
    workspace_id: UUID
    name: str
    title: str | None
    media_type: str
    bytes: int
    content_hash: str
    status: DocumentStatus
    pages: int | None
    chunk_count: int | None
    engine: str | None = Field(description="What converted it, for instance docling/rapid-layout.")
    created_at: datetime
    updated_at: datetime
    indexed_at: datetime | None


class DocumentDetail(Document):
    """`explanation` says in one sentence why the document is not searchable yet; null when it is."""

    stages: list[Stage]
    explanation: str | None


class UploadedFile(Resource):
    """What became of one file: a document (`created` is false if its bytes were there already) or an error."""

    name: str
    document: Document | None = None
    created: bool = False
    error: str | None = Field(default=None, description="Stable slug, for instance empty-file or unsupported-format.")
    message: str | None = None


class Upload(Resource):
    files: list[UploadedFile]


class Chunk(Resource):
    """A passage of a document.

    `chunk_id` is the first 32 hex digits of a SHA-256 over document, content and an ordinal for repeats. `content` is
    the passage itself; what is embedded is the heading path, then the content. `box` is left, top, right, bottom in
    points from the page's upper left corner. Lines count from 1.
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
    box: tuple[float, float, float, float] | None = None
    line_start: int | None = None
    line_end: int | None = None


class StoreReceipt(Resource):
    """What one service removed, by kind, and what it still counts afterwards (0 when the delete is proved)."""

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
