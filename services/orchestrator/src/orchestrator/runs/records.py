"""The rows of runs, and what an attempt makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from contracts.gateway import Role
from contracts.orchestrator import AnswerMode, Citation, Message, MessageRole, Run, RunStatus
from service_kit.auth import Principal


@dataclass(frozen=True)
class ClaimedRun:
    """A run that this process may work on as long as it extends the lease. `attempts` fences its event stream."""

    workspace_id: UUID
    id: UUID
    session_id: UUID
    created_by: UUID
    role: str
    traceparent: str | None
    document_ids: list[UUID] | None
    attempts: int
    attempts_left: int
    lease_token: UUID
    cancel_requested: bool

    @property
    def principal(self) -> Principal:
        return Principal(self.created_by, self.workspace_id, Role(self.role))


@dataclass
class Progress:
    """What an attempt has done so far; written to the run's row with each extension of the lease and at its end."""

    node_trace: list[str] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """What a completed turn leaves behind. `title` is for a session that has none."""

    message_id: UUID
    mode: AnswerMode
    question: str
    content: str
    citations: Sequence[Citation]
    removed_citations: int
    title: str | None


@dataclass(frozen=True)
class SaidBefore:
    """A message of the session; `untitled` says whether the session has no title."""

    id: UUID
    role: str
    content: str
    untitled: bool


@dataclass(frozen=True)
class CancelOutcome:
    """`status` is cancelled where the run was waiting, running where its process has been told."""

    status: RunStatus
    attempts: int
    told: str


@dataclass(frozen=True)
class RunRow:
    """A run with its answer, where it has one."""

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
    answer_id: UUID | None
    content: str | None
    citations: list[Any] | None
    removed_citations: int | None
    answer_mode: AnswerMode | None
    answered_at: datetime | None

    def run(self) -> Run:
        own = {name: getattr(self, name) for name in Run.model_fields if name != "answer"}
        return Run.model_validate({**own, "answer": self._answer()})

    def _answer(self) -> Message | None:
        if self.answer_id is None:
            return None
        return Message.model_validate(
            {
                "id": self.answer_id,
                "session_id": self.session_id,
                "run_id": self.id,
                "role": MessageRole.assistant,
                "content": self.content,
                "citations": self.citations,
                "removed_citations": self.removed_citations,
                "mode": self.answer_mode,
                "created_at": self.answered_at,
            }
        )
