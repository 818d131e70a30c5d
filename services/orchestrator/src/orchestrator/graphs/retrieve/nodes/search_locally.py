"""Searches the documents of the session, or only the open one."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.retrieve.searching import found, search
from orchestrator.graphs.retrieve.state import SearchedQuery


async def search_locally(state: SearchedQuery, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Searches without the graph, which covers the whole workspace."""
    response = await search(state, runtime.context)
    return {**found(response, state, runtime.context), "path": ["local"]}
