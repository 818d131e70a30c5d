"""The rows of runs, and the results of attempts."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from contracts.artifacts import ArtifactOutcome, ArtifactView
from contracts.gateway import Role
from contracts.orchestrator import AnswerMode, Citation, RunStatus, SentenceCheck
from contracts.reflections import Reflection
from contracts.world import StagedOperations
from orchestrator.artifacts.proposal import ArtifactProposal
from orchestrator.configuration.repository import StoredSetting
from service_kit.auth import Principal

SearchedScope = Literal["session", "workspace", "global"]


class RunOptions(TypedDict, total=False):
    """How an answer is to be written, as JSON.

    `timezone` is the user's. `artifact_action` is an action that the message asks for explicitly, with its parameters:
    a highlight, a theme or a quick action. `reply`: the message is answered, and changes no artifact.

    `rag_enabled` (if false), `rag_scope`, `conversation_mode`, `active_pdf_document_id` and `rewrite_query` are the
    message's options for the search and its query.

    `plain`: by the chat model only, without a search. `ephemeral`: no further question will follow. `instructions` are
    the caller's own, for a chat model. Without `use_preferences`, prompts contain nothing that is known of the user;
    without `use_history`, the answering model reads only the question; both are on by default. `model`, `metadata`,
    `background`, `previous` (the response that it follows) and `forgotten` (nothing of it is kept) are repeated in the
    answers of the OpenAI API. `roles` (RoleModel by role) take precedence over the workspace's, `filters` (of
    SearchFilters) limit the search.
    """

    timezone: str
    artifact_action: str
    artifact_action_params: dict[str, Any]
    reply: bool
    rag_enabled: bool
    rag_scope: SearchedScope
    conversation_mode: Literal["normal", "chatpdf"]
    active_pdf_document_id: str
    rewrite_query: bool
    plain: bool
    ephemeral: bool
    instructions: str
    use_preferences: bool
    use_history: bool
    temperature: float
    max_tokens: int
    model: str
    metadata: dict[str, Any]
    background: bool
    previous: str
    forgotten: bool
    roles: dict[str, list[dict[str, Any]]]
    filters: dict[str, list[str]]


@dataclass(frozen=True)
class ClaimedRun:
    """A run that this process may work on as long as it extends the lease.

    `attempts` counts claims and never decreases, as it fences the run's event stream. `attempts_left` is reduced by
    crashes and errors. `delegation` is the gateway's, for requests to services on the user's behalf.
    `deadline_seconds` count from this claim, so that time in the queue is not used up. `key_id` is the API key of the
    request.
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
    deadline_seconds: int
    key_id: UUID | None
    options: RunOptions

    @property
    def principal(self) -> Principal:
        role = Role(self.role)
        return Principal(self.created_by, self.workspace_id, role, delegation=self.delegation, key_id=self.key_id)

    @property
    def scope(self) -> str | None:
        """Returns the scope that the message names; in chatpdf without an open document, the session's documents."""
        if self.options.get("conversation_mode") == "chatpdf" and "active_pdf_document_id" not in self.options:
            return "session"
        return self.options.get("rag_scope")


@dataclass(frozen=True)
class StoredEvent:
    """An event that PostgreSQL keeps, never a piece of text. `data` is JSON."""

    attempt: int
    number: int
    name: str
    data: str

    @property
    def id(self) -> str:
        return f"{self.attempt}-{self.number}"


@dataclass(frozen=True)
class EarlierMessage:
    """A message on the path of a turn; `untitled` if the session has no title, `temporary` if it is.

    With the role `summary`, `content` replaces the message and all earlier ones.
    """

    id: UUID
    role: str
    content: str
    attachment_ids: list[UUID]
    untitled: bool
    temporary: bool
    created_at: datetime


@dataclass(frozen=True)
class AskedMessage:
    """The message that a run answers, and when it was sent."""

    id: UUID
    created_at: datetime


@dataclass(frozen=True)
class FoundArtifact:
    """The current version of the session's artifact; `seen` is the text of the version that a highlight names, if that
    differs. `edited_by_hand`: what people wrote into it since the version that it was made from."""

    view: ArtifactView
    seen: str | None
    edited_by_hand: Sequence[str] = ()


@dataclass(frozen=True)
class CommittedVersion:
    """The version of the artifact that a run made, None if the artifact is `gone`, and the outcome."""

    index: int | None
    outcome: ArtifactOutcome


@dataclass(frozen=True)
class TurnInput:
    """A turn's question and the earlier messages on its path, newest first.

    `answer_id` is the id of the answer's message. The answer may draw on `document_ids`; None: on all documents of the
    workspace. `settings` are those of the user and the workspace.
    """

    answer_id: UUID
    messages: Sequence[EarlierMessage]
    document_ids: list[UUID] | None
    artifact: FoundArtifact | None = None
    settings: Sequence[StoredSetting] = ()

    @property
    def asked_at(self) -> datetime:
        """Returns when the question was asked."""
        return self.messages[0].created_at


@dataclass(frozen=True)
class Condensed:
    """A summary that replaces a message and all earlier ones in prompts."""

    message_id: UUID
    summary: str


@dataclass(frozen=True)
class TurnAnswer:
    """The result of a completed turn. `title` is for a session that has none.

    `recalled_ids` are the memories that it was written with, `reflections` what memory is to learn about the user,
    `staged` its changes to the world state. `condensed` is a summary of the oldest messages, if they were condensed.
    `fallback`: the turn's error handler wrote it. Other services do not learn from such an answer, nor from one that is
    `incomplete`, in which the model broke off, or that `read_elsewhere`, with passages from other workspaces.
    `proposal` is the artifact's new version.
    """

    message_id: UUID
    mode: AnswerMode
    question: str
    content: str
    citations: Sequence[Citation]
    removed_citations: int
    sentences: Sequence[SentenceCheck]
    title: str | None
    condensed: Condensed | None = None
    fallback: bool = False
    incomplete: bool = False
    read_elsewhere: bool = False
    recalled_ids: Sequence[UUID] = ()
    reflections: Sequence[Reflection] = ()
    proposal: ArtifactProposal | None = None
    staged: StagedOperations | None = None


async def nothing_written() -> TurnAnswer | None:
    return None


@dataclass
class RunProgress:
    """The progress of an attempt, written to the run's row with each extension of the lease and at the end.

    `partial` returns the partial answer, if there is one.
    """

    node_trace: list[str] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)
    steps_executed: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    considered: dict[str, object] | None = None
    debug: dict[str, object] = field(default_factory=dict)
    partial: Callable[[], Awaitable[TurnAnswer | None]] = nothing_written

    def columns(self) -> dict[str, object]:
        return {
            "node_trace": self.node_trace,
            "issues": self.issues,
            "steps_executed": self.steps_executed,
            "timings": json.dumps(self.timings),
            "considered": self.considered and json.dumps(self.considered),
            "debug": json.dumps(self.debug),
        }


@dataclass(frozen=True)
class CancelOutcome:
    """`status` is cancelled if no process was working on the run, running if its process was notified."""

    status: str
    attempts: int
    session_id: UUID
    temporary: bool
    notified: str

    @property
    def ended(self) -> bool:
        return self.status == RunStatus.cancelled
