"""The events of a run's own stream, which clients follow: plain typed data, without an envelope."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from contracts.artifact_actions import ArtifactAction
from contracts.models import ModelRole
from contracts.orchestrator import AnswerMode, Citation, RetrievalOutcome, SentenceCheck, SentenceStatus


def run_stream(run_id: UUID) -> str:
    """Returns the name of the stream with one run's events."""
    return f"attractor.runs.{run_id}"


class RunEventData(BaseModel):
    """An event of one run's own stream; `name` is the server-sent event's name."""

    model_config = ConfigDict(frozen=True)

    name: ClassVar[str]
    terminal: ClassVar[bool] = False


class RunStarted(RunEventData):
    name = "run_started"
    run_id: UUID
    attempt: int
    mode: AnswerMode


class RunPhase(StrEnum):
    """The phases of a turn, in their order. Not every turn has all of them."""

    routing = "routing"
    contextualisation = "contextualisation"
    artifact_operations = "artifact_operations"
    answering = "answering"
    housekeeping = "housekeeping"


class StageStarted(RunEventData):
    """A node of the graph begins; `label` describes it for people, `phase` is the part of the turn it belongs to."""

    name = "stage_started"
    stage: str
    label: str
    phase: RunPhase | None = None


class StageOutput(RunEventData):
    """What a stage found, before the answer begins. The message of the answer keeps it."""

    name = "stage_output"
    stage: Literal["retrieve"]
    output: RetrievalOutcome


class StageCompleted(RunEventData):
    name = "stage_completed"
    stage: str


class MessageDelta(RunEventData):
    name = "message_delta"
    text: str


class MessageRestarted(RunEventData):
    """The answer starts over, in another process or without the model that failed; discard what was streamed."""

    name = "message_restarted"


class SentenceChecked(RunEventData):
    """A sentence of the answer in progress is complete, and was checked against its sources.

    Characters `start` to `end` refer to the text streamed since the answer began, or last started over. `content` is
    the sentence with its final markers, and `citations` are what these refer to. The whole answer is checked again at
    its end: `message_completed` is authoritative.
    """

    name = "sentence"
    start: int
    end: int
    content: str
    status: SentenceStatus
    reason: str
    attributed: bool = False
    citations: list[Citation] = []


class MessageCompleted(RunEventData):
    """The text and its citations are final; only housekeeping follows.

    `incomplete`: the answer ends early, because the model stopped or was cut off, or the run was ended.
    """

    name = "message_completed"
    message_id: UUID
    content: str
    sentences: list[SentenceCheck] = []
    incomplete: bool = False


class ArtifactStarted(RunEventData):
    """`action` starts to write the artifact, or starts over: discard what was streamed of it so far.

    The stream is a preview: the version stored when the run ends is authoritative.
    """

    name = "artifact_started"
    action: ArtifactAction


class ArtifactDelta(RunEventData):
    name = "artifact_delta"
    text: str


class ThinkingDelta(RunEventData):
    name = "thinking_delta"
    text: str


class CitationChecked(RunEventData):
    name = "citation"
    citation: Citation


class ProviderIssue(RunEventData):
    """Something went wrong, and the run continues, for instance without sources."""

    name = "issue"
    message: str


class ModelCalled(RunEventData):
    """A model call has ended: `ended` is completed, cut, cancelled or failed.

    `is_told`: the provider reported the tokens; otherwise they are estimated. `cost` is in the provider's currency.
    """

    name = "model_call"
    role: ModelRole
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    thinking_tokens: int = 0
    cost: float | None = None
    is_told: bool
    first_token_ms: float | None = None
    ended: str


class RunEnd(RunEventData):
    """`artifact_index` is the version that the run made of the session's artifact, `artifact_outcome` what became of
    it: current, merged, kept_aside or gone. A failed or cancelled run has them, too, if it had already announced the
    version."""

    terminal = True
    artifact_index: int | None = None
    artifact_outcome: Literal["current", "merged", "kept_aside", "gone"] | None = None


class RunCompleted(RunEnd):
    name = "run_completed"
    run_id: UUID
    message_id: UUID
    mode: AnswerMode
    content: str
    citations: list[Citation]
    removed_citations: int
    sentences: list[SentenceCheck] = []
    issues: list[str] = []
    steps_executed: list[str] = []
    timings: dict[str, float] = {}


class RunFailed(RunEnd):
    name = "run_failed"
    run_id: UUID
    error_type: str
    message: str
    stage: str | None = None


class RunCancelled(RunEnd):
    name = "run_cancelled"
    run_id: UUID


RUN_EVENTS: tuple[type[RunEventData], ...] = (
    RunStarted,
    StageStarted,
    StageOutput,
    StageCompleted,
    MessageDelta,
    MessageRestarted,
    SentenceChecked,
    MessageCompleted,
    ArtifactStarted,
    ArtifactDelta,
    ThinkingDelta,
    CitationChecked,
    ProviderIssue,
    ModelCalled,
    RunCompleted,
    RunFailed,
    RunCancelled,
)
