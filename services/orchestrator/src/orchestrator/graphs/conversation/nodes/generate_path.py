"""Decides whether the turn needs the documents."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.routing import path_of
from orchestrator.graphs.conversation.state import State


async def generate_path(state: State, runtime: Runtime[ConversationContext]) -> dict[str, Any]:  # noqa: ARG001
    return {"next": path_of(state["question"])}
