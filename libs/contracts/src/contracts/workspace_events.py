"""The server-sent events of `GET /v1/events`: what changes in a workspace, without any content."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from contracts.orchestrator import RunStatus
from contracts.sources import SyncStatus


class WorkspaceChange(BaseModel):
    """Something changed; read it to see how. `name` is the server-sent event's name."""

    model_config = ConfigDict(frozen=True)

    name: ClassVar[str]


class DocumentChange(WorkspaceChange):
    """`document_name` and `title` come with `stored`, `converted` and `described` (renamed, retitled, moved); the last
    two fields with `failed`.
    """

    name = "document"
    document_id: UUID
    state: Literal["stored", "converted", "described", "indexed", "graphed", "failed", "deleted"]
    document_name: str | None = None
    title: str | None = None
    stage: str | None = None
    error_class: str | None = None


class SynchronisationChange(WorkspaceChange):
    name = "synchronisation"
    source_id: UUID
    sync_id: UUID
    status: SyncStatus
    dry_run: bool


class RunChange(WorkspaceChange):
    """Only for the run's own user; there are none of temporary sessions."""

    name = "run"
    run_id: UUID
    session_id: UUID
    status: RunStatus


class ArtifactChange(WorkspaceChange):
    """Only for the session's own user. `index` is the current version; null if the artifact was deleted."""

    name = "artifact"
    session_id: UUID
    index: int | None


class DeadLetterAdded(WorkspaceChange):
    """A service gave an event up; only for owners."""

    name = "dead_letter"
    service: str
    type: str
    subject: str


class ChangesMissed(WorkspaceChange):
    """Changes after the Last-Event-ID are no longer kept: reload what is shown."""

    name = "missed"


WORKSPACE_CHANGES: tuple[type[WorkspaceChange], ...] = (
    DocumentChange,
    SynchronisationChange,
    RunChange,
    ArtifactChange,
    DeadLetterAdded,
    ChangesMissed,
)
