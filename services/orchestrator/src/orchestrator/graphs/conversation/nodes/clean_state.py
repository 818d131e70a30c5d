"""Resets what belongs to this turn alone."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import TRANSIENT, State


async def clean_state(state: State, runtime: Runtime[ConversationContext]) -> dict[str, Any]:  # noqa: ARG001
    return dict(TRANSIENT)
