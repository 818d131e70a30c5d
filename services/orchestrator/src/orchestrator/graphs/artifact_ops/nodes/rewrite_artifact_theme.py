"""Rewrites a text or code according to the options of a theme, which are closed enumerations."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.themes import summary_of, wish_of
from orchestrator.graphs.artifact_ops.working import rewritten
from orchestrator.graphs.artifact_ops.working import wish_of as words_of
from orchestrator.graphs.conversation.context import ConversationContext


async def rewrite_artifact_theme(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises SoftFailure, BudgetExceeded."""
    theme = state["artifact_action_params"] or {}
    wish = wish_of(theme) or words_of(state)
    return await rewritten(state, runtime.context, wish, summary_of(theme), with_passages=False)


async def rewrite_code_artifact_theme(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """A node of its own, because the run's events name it. Raises SoftFailure, BudgetExceeded."""
    return await rewrite_artifact_theme(state, runtime)
