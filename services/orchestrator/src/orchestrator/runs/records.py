"""The rows of runs, and what an attempt makes of them."""

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

    `timezone` is the user's. `artifact_action` is what the message asks for beside its words, with its parameters: a
    highlight, a theme or a quick action. `reply`: the message is answered, and changes no artifact.

    `rag_enabled` (if false), `rag_scope`, `conversation_mode`, `active_pdf_document_id` and `rewrite_query` are what
    the message says of where is searched, and by which words.

    `plain`: by the chat model alone, without a search. `ephemeral`: nobody will ask further. `instructions` are the
    caller's own, for a chat model. Without `use_preferences` nothing that is known of the user is in a prompt, without
    `use_history` the model of an answer reads the question alone; both are on where nobody says otherwise. `model`,
    `metadata`, `background`, `previous` (the response that it follows) and `forgotten` (nothing of it is kept) are what
    a door repeats with its answer. `roles` (RoleModel by role) come before the workspace's, `filters` (of
    SearchFilters) limit what is searched.
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
    roles: dict[str, list[dict[str, str]]]
    filters: dict[str, list[str]]


@dataclass(frozen=True)
class ClaimedRun:
    """A run that this process may work on as long as it extends the lease.

    `attempts` counts claims and never falls: it fences the run's event stream. `attempts_left` is what crashes and
    errors reduce. `delegation` is the gateway's, for the services that are asked for the user.
    `deadline_seconds` are counted from this claim: while no process works on a run, no time is used up. `key_id` is the
    API key that was asked with.
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
        """Returns the scope that the message names; a session's documents are meant where none is open in chatpdf."""
        if self.options.get("conversation_mode") == "chatpdf" and "active_pdf_document_id" not in self.options:
            return "session"
        return self.options.get("rag_scope")


@dataclass(frozen=True)
class StoredEvent:
    """An event that PostgreSQL keeps: no piece of a text. `data` is JSON."""

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

    With the role `summary`, `content` stands for the message and all before it.
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
    """The current version of the session's artifact; `seen` is the text of the one that a highlight names, if that is
    another one. `edited_by_hand`: what people wrote into it since the version that it was made from."""

    view: ArtifactView
    seen: str | None
    edited_by_hand: Sequence[str] = ()


@dataclass(frozen=True)
class CommittedVersion:
    """The version that a run made of the artifact, None if that is `gone`, and what became of it."""

    index: int | None
    outcome: ArtifactOutcome


@dataclass(frozen=True)
class TurnInput:
    """A turn's question and what was said before it on its path, newest first.

    `answer_id` names the message that the answer becomes. The answer may draw on `document_ids`; None: on all documents
    of the workspace. `settings` are those of the user and the workspace.
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
    """What stands for a message and all before it, in what a model reads."""

    message_id: UUID
    summary: str


@dataclass(frozen=True)
class TurnAnswer:
    """What a completed turn leaves behind. `title` is for a session that has none.

    `recalled_ids` are the memories that it was written with, `reflections` what memory is to learn of the user,
    `staged` what it is to change in the world state. `condensed` is what a model reads of the oldest messages, if that
    was condensed. `fallback`: the turn's error handler wrote it, so other services learn nothing from it, nor from an
    `incomplete` one, in which the model broke off, or one that `read_elsewhere`: passages of other workspaces.
    `proposal` is what the artifact becomes.
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
    """What an attempt has done so far; written to the run's row with each extension of the lease and at its end.

    `partial` returns what there is of the answer, if that is anything.
    """

    node_trace: list[str] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)
    steps_executed: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    debug: dict[str, object] = field(default_factory=dict)
    partial: Callable[[], Awaitable[TurnAnswer | None]] = nothing_written

    def columns(self) -> dict[str, object]:
        return {
            "node_trace": self.node_trace,
            "issues": self.issues,
            "steps_executed": self.steps_executed,
            "timings": json.dumps(self.timings),
            "debug": json.dumps(self.debug),
        }


@dataclass(frozen=True)
class CancelOutcome:
    """`status` is cancelled if no process was working on the run, running if its process was notified."""

    status: str
    attempts: int
    notified: str

    @property
    def ended(self) -> bool:
        return self.status == RunStatus.cancelled
