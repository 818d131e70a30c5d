"""The only entry to artifact changes: checks what an action needs before any model is asked."""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime

from contracts.artifact_actions import ArtifactAction
from orchestrator.errors import ArtifactOpsError
from orchestrator.graphs.artifact_ops.recovery import (
    NO_ARTIFACT,
    NO_HIGHLIGHT,
    NOT_CODE,
    NOT_TEXT,
    READ_ONLY,
    RECOVERY,
)
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import ArtifactInTurn

# Whether each action needs an artifact, and a highlight.
NEEDS: dict[ArtifactAction, tuple[bool, bool]] = {
    ArtifactAction.generate_artifact: (False, False),
    ArtifactAction.rewrite_artifact: (True, False),
    ArtifactAction.rewrite_artifact_theme: (True, False),
    ArtifactAction.rewrite_code_artifact_theme: (True, False),
    ArtifactAction.update_artifact: (True, False),
    ArtifactAction.update_highlighted_text: (True, True),
    ArtifactAction.custom_action: (True, False),
}
KINDS = ("markdown", "code", "pdf")


class DispatchedAction(TypedDict):
    """What the node reads."""

    artifact: ArtifactInTurn | None
    artifact_action: str | None
    artifact_action_params: dict[str, Any] | None


async def artifact_action_dispatch(
    state: DispatchedAction,
    runtime: Runtime[ConversationContext] | None = None,  # noqa: ARG001  every node's signature
) -> dict[str, Any]:
    """Raises ArtifactOpsError for an unknown action or an inconsistent artifact."""
    action, artifact = _known(state["artifact_action"]), state["artifact"]
    if artifact is not None:
        check_structure(artifact)
    message = missing(action, artifact, state["artifact_action_params"])
    if message:
        return {"next": RECOVERY, "artifact_action_recovery_message": message}
    return {"steps_executed": [f"Began to {action.value.replace('_', ' ')}"]}


def missing(action: ArtifactAction, artifact: ArtifactInTurn | None, params: dict[str, Any] | None) -> str:
    """Returns the answer if something is missing that the action needs, otherwise an empty text."""
    needs_artifact, needs_highlight = NEEDS[action]
    if needs_artifact and artifact is None:
        return NO_ARTIFACT
    if artifact is not None and artifact["kind"] == "pdf":
        return READ_ONLY
    if needs_highlight and not (params and "start" in params):
        return NO_HIGHLIGHT
    if artifact is not None and action is ArtifactAction.rewrite_code_artifact_theme and artifact["kind"] != "code":
        return NOT_CODE
    if artifact is not None and action is ArtifactAction.rewrite_artifact_theme and artifact["kind"] == "code":
        return NOT_TEXT
    return ""


def check_structure(artifact: ArtifactInTurn) -> None:
    """Raises ArtifactOpsError."""
    if artifact["index"] < 1:
        raise ArtifactOpsError(f"the artifact has no version {artifact['index']}")
    if artifact["kind"] not in KINDS:
        raise ArtifactOpsError(f"the artifact is of no known kind: {artifact['kind']}")


def _known(action: str | None) -> ArtifactAction:
    try:
        return ArtifactAction(action or "")
    except ValueError:
        raise ArtifactOpsError(f"there is no artifact action {action}") from None
