"""Sources, from which documents come automatically, and their synchronisations."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, HttpUrl, StringConstraints, model_validator

from contracts.base import Name, Request, Resource, Text
from contracts.ingestion import StoreReceipt

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Patterns = Annotated[list[Pattern], Field(max_length=100)]
Path = Annotated[Text, Field(min_length=1, max_length=1000)]
Interval = Annotated[int, Field(ge=30, le=31 * 86_400)]


class _Selection(Request):
    """`include` and `exclude` are glob patterns on the path within the source, such as `docs/**/*.md`."""

    include: Patterns = []
    exclude: Patterns = []


class FolderConfig(_Selection):
    """A folder on a mounted path, with its subfolders. `watch` synchronises soon after a change."""

    kind: Literal["folder"] = "folder"
    path: Path
    watch: bool = True

    @property
    def place(self) -> str:
        """Returns where the documents come from, in one line."""
        return self.path


class S3Config(_Selection):
    """Objects under a prefix. `connection` names an endpoint and its credentials, which the operator configures."""

    kind: Literal["s3"] = "s3"
    connection: Annotated[Text, Field(max_length=100)] = "default"
    bucket: Annotated[Text, Field(min_length=3, max_length=63)]
    prefix: Annotated[Text, Field(max_length=1000)] = ""

    @property
    def place(self) -> str:
        """Returns where the documents come from, in one line."""
        return f"{self.bucket}/{self.prefix} ({self.connection})"


class WebConfig(_Selection):
    """One page, the pages of a sitemap, or the pages that links on the same site lead to, within the limits."""

    kind: Literal["web"] = "web"
    url: HttpUrl
    mode: Literal["page", "sitemap", "crawl"] = "page"
    max_depth: Annotated[int, Field(ge=0, le=20)] = 3
    max_pages: Annotated[int, Field(ge=1, le=10_000)] = 200

    @property
    def place(self) -> str:
        """Returns where the documents come from, in one line."""
        return f"{self.url} ({self.mode})"


class GitConfig(_Selection):
    """A repository, checked out or bare, at a mounted path; its files as of a commit, branch or tag."""

    kind: Literal["git"] = "git"
    path: Path
    ref: Annotated[Text, Field(min_length=1, max_length=250)] = "HEAD"

    @property
    def place(self) -> str:
        """Returns where the documents come from, in one line."""
        return f"{self.path} at {self.ref}"


SourceConfig = Annotated[FolderConfig | S3Config | WebConfig | GitConfig, Field(discriminator="kind")]


class OnRemoved(StrEnum):
    """What happens to a document whose file has disappeared from the source."""

    delete = "delete"
    mark_stale = "mark_stale"


class SourceCreate(Request):
    """`every_seconds`: the interval between synchronisations; null: on request (or when a watched folder changes)."""

    name: Name
    config: SourceConfig
    every_seconds: Interval | None = None
    on_removed: OnRemoved = OnRemoved.delete
    stale_after_seconds: Interval | None = Field(
        default=None,
        description="Its documents become stale when it has not been synchronised successfully for this long.",
    )


class SourceUpdate(Request):
    """Only the given fields change. The kind of a source and its location (path, bucket, URL) stay."""

    name: Name | None = None
    every_seconds: Interval | None = None
    on_removed: OnRemoved | None = None
    stale_after_seconds: Interval | None = None
    paused: bool | None = None
    include: Patterns | None = None
    exclude: Patterns | None = None
    watch: bool | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> SourceUpdate:
        if not self.model_fields_set:
            raise ValueError("nothing to change")
        return self


class SyncStatus(StrEnum):
    queued = "queued"
    running = "running"
    succeeded = "succeeded"
    failed = "failed"
    cancelled = "cancelled"


class SyncTrigger(StrEnum):
    created = "created"
    request = "request"
    schedule = "schedule"
    watch = "watch"


MAX_LISTED_CHANGES = 10_000


class Sync(Resource):
    """One synchronisation. Files: `seen` = added + changed + unchanged + refused + excluded; `removed` are gone.

    `bytes` were read, `refused` are unsupported or too large (the list of changes says which and why), `excluded` were
    deleted here by a user and are not brought back. `changes_left_out` counts changes beyond the 10,000 listed.
    """

    id: UUID
    source_id: UUID
    status: SyncStatus
    trigger: SyncTrigger
    dry_run: bool
    seen: int
    added: int
    changed: int
    removed: int
    unchanged: int
    refused: int
    excluded: int
    bytes: int
    changes_left_out: int = 0
    attempts: int
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    worker: str | None
    error_class: str | None
    error_message: str | None


class SyncAction(StrEnum):
    add = "add"
    change = "change"
    remove = "remove"
    refuse = "refuse"


class SyncChange(Resource):
    """What a synchronisation did with a file, or would do in a dry run."""

    position: int
    action: SyncAction
    path: str
    document_id: UUID | None
    file_size: int | None
    message: str | None


class Source(Resource):
    """`documents` counts the documents that come from it; `next_sync_at` is null if no synchronisation is scheduled."""

    id: UUID
    name: str
    config: SourceConfig
    every_seconds: int | None
    on_removed: OnRemoved
    stale_after_seconds: int | None
    paused: bool
    version: int
    created_at: datetime
    updated_at: datetime
    documents: int
    last_sync: Sync | None
    next_sync_at: datetime | None


class SourceDeletion(Resource):
    """The summed receipts of all documents of a deleted source; complete when every service has confirmed each."""

    source_id: UUID
    requested_at: datetime
    completed_at: datetime | None
    documents: int
    pending_documents: int
    services: list[StoreReceipt]
