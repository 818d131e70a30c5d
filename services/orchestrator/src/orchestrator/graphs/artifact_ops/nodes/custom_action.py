"""Rewrites the artifact according to the prompt of a quick action."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.artifact_ops.recovery import SoftFailure
from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.working import rewritten
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.nodes.reply_to_general_input import conversation

NO_ACTION = "I need to know which quick action to follow. Please choose one of yours, or of the workspace."


async def custom_action(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises SoftFailure, BudgetExceeded."""
    action, context = state["artifact_action_params"] or {}, runtime.context
    if not action.get("prompt"):
        raise SoftFailure(NO_ACTION)
    history = None
    if action.get("use_history"):
        history = conversation(state["internal_messages"], state["answer_id"], context.limits.history_tokens)
    done = f"I followed the quick action “{action.get('name', '')}”."
    return await rewritten(state, context, action["prompt"], done, history=history)
