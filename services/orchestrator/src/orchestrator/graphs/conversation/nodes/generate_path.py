"""Decides whether the turn needs the documents."""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.routing import path_of

STEPS = {
    "retrieve": "Decided to search the documents",
    "reply_to_general_input": "Decided to answer without a search",
    "reply_plainly": "Was asked to answer without the documents",
}


class AskedQuestion(TypedDict):
    """What the node reads."""

    question: str


async def generate_path(state: AskedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    path = "reply_plainly" if runtime.context.options.get("plain") else path_of(state["question"])
    return {
        "next": path,
        "steps_executed": [STEPS[path]] if path in STEPS else [],
        "rag_route_debug": {"path": path, "is_courtesy": path == "reply_to_general_input"},
    }
