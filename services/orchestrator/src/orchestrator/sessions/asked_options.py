"""The options of a message, as stored with its run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contracts.artifact_actions import ArtifactAction
from contracts.orchestrator import ConversationMode, MessageCreate
from contracts.quick_actions import QuickAction, QuickActionTarget
from contracts.workspace_settings import RoleModel
from orchestrator.runs.records import RunOptions

UTC = "UTC"


def options_of(message: MessageCreate, quick_action: QuickAction | None) -> RunOptions:
    """Returns the options, with the quick action's current prompt. Unset options are left out."""
    options = _searched(message)
    if message.models is not None:
        options["roles"] = answering(message.models)
    if message.timezone != UTC:
        options["timezone"] = message.timezone
    if message.highlight is not None:
        options["artifact_action"] = ArtifactAction.update_highlighted_text.value
        options["artifact_action_params"] = message.highlight.model_dump(mode="json")
    elif message.theme is not None:
        options["artifact_action"] = message.theme.action.value
        options["artifact_action_params"] = message.theme.model_dump(mode="json", exclude_none=True)
    elif message.artifact_action is not None:
        options["artifact_action"] = message.artifact_action.value
    elif quick_action is not None and quick_action.target is QuickActionTarget.message:
        options["instructions"], options["reply"] = quick_action.prompt, True
        options["use_history"] = quick_action.use_history
    elif quick_action is not None:
        parameters = quick_action.model_dump(mode="json", include={"name", "prompt", "use_history"})
        options["artifact_action"] = ArtifactAction.custom_action.value
        options["artifact_action_params"] = parameters
    if quick_action is not None:
        options["use_preferences"] = quick_action.use_preferences
    return options


def answering(models: Sequence[RoleModel]) -> dict[str, list[dict[str, Any]]]:
    """Returns the option `roles` with which these models write the answer."""
    return {"answer": [model.model_dump(exclude_none=True) for model in models]}


def _searched(message: MessageCreate) -> RunOptions:
    """Returns the message's options for the search."""
    options = RunOptions()
    if not message.rag_enabled:
        options["rag_enabled"] = False
    if message.rag_scope is not None:
        options["rag_scope"] = message.rag_scope.value
    if message.conversation_mode is not ConversationMode.normal:
        options["conversation_mode"] = "chatpdf"
    if message.active_pdf_document_id is not None:
        options["active_pdf_document_id"] = str(message.active_pdf_document_id)
    if message.rewrite_query is not None:
        options["rewrite_query"] = message.rewrite_query
    return options
