"""Rewrites the whole artifact as the user asks."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.working import rewritten, wish_of
from orchestrator.graphs.conversation.context import ConversationContext

DONE = "I rewrote the document as you asked."


async def rewrite_artifact(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises SoftFailure, BudgetExceeded."""
    return await rewritten(state, runtime.context, wish_of(state), DONE)
