"""The parts of the conversation's state that this graph's nodes read."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from orchestrator.graphs.conversation.state import (
    ArtifactInTurn,
    FoundChunk,
    Proposed,
    Turn,
    append_new,
    put_entries,
    put_messages,
)
from orchestrator.graphs.stages import Failing


class ActionState(TypedDict):
    """What an action reads. The wish is the last message other than `answer_id`."""

    internal_messages: list[Turn]
    answer_id: str
    artifact: ArtifactInTurn | None
    artifact_action: str | None
    artifact_action_params: dict[str, Any] | None
    passages: list[FoundChunk]
    memories: list[str]


class ArtifactOpsState(Failing):
    """The complete state. All fields are the conversation's; in manual use, an artifact is enough."""

    internal_messages: Annotated[list[Turn], put_messages]
    answer_id: str
    artifact: ArtifactInTurn | None
    artifact_action: str | None
    artifact_action_params: dict[str, Any] | None
    artifact_action_recovery_message: str | None
    passages: list[FoundChunk]
    memories: list[str]
    proposal: Proposed | None
    next: Literal["retrieve", "reply_to_general_input", "reply_plainly", "artifact_ops", "__recovery__"] | None
    mode: Literal["model", "extractive"]
    node_trace: Annotated[list[str], append_new]
    issues: Annotated[list[str], append_new]
    steps_executed: Annotated[list[str], append_new]
    timings: Annotated[dict[str, float], put_entries]
