"""The rows of runs, and what an attempt makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from contracts.gateway import Role
from contracts.orchestrator import AnswerMode, Citation, RunStatus
from service_kit.auth import Principal


@dataclass(frozen=True)
class ClaimedRun:
    """A run that this process may work on as long as it extends the lease.

    `attempts` counts claims and never falls: it fences the run's event stream. `attempts_left` is what crashes and
    errors reduce. `delegation` is the gateway's, for the services that are asked for the user.
    """

    workspace_id: UUID
    id: UUID
    session_id: UUID
    created_by: UUID
    role: str
    traceparent: str | None
    attempts: int
    attempts_left: int
    lease_token: UUID
    cancel_requested: bool
    delegation: str | None

    @property
    def principal(self) -> Principal:
        return Principal(self.created_by, self.workspace_id, Role(self.role), delegation=self.delegation)


@dataclass
class RunProgress:
    """What an attempt has done so far; written to the run's row with each extension of the lease and at its end."""

    node_trace: list[str] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)

    def columns(self) -> dict[str, object]:
        return {"node_trace": self.node_trace, "issues": self.issues}


@dataclass(frozen=True)
class EarlierMessage:
    """A message of the session; `untitled` if the session has no title."""

    id: UUID
    role: str
    content: str
    untitled: bool


@dataclass(frozen=True)
class TurnInput:
    """A turn's question and what was said before it, newest first, and the documents that the answer may draw on.

    `document_ids` None: all documents of the workspace.
    """

    messages: Sequence[EarlierMessage]
    document_ids: list[UUID] | None


@dataclass(frozen=True)
class TurnAnswer:
    """What a completed turn leaves behind. `title` is for a session that has none."""

    message_id: UUID
    mode: AnswerMode
    question: str
    content: str
    citations: Sequence[Citation]
    removed_citations: int
    title: str | None


@dataclass(frozen=True)
class CancelOutcome:
    """`status` is cancelled if the run was waiting, running if its process was notified."""

    status: RunStatus
    attempts: int
    notified: str
