"""Resets the state that belongs to this turn only."""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import TRANSIENT


class FinishedTurn(TypedDict):
    """What the node reads: nothing; LangGraph requires a field."""

    answer_id: str


async def clean_state(state: FinishedTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:  # noqa: ARG001  every node's signature
    return dict(TRANSIENT)
