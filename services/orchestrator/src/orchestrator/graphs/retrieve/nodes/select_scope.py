"""Chooses the scope of the search: the session's documents, the workspace, or every workspace of the caller."""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime

from contracts.run_events import ProviderIssue
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.retrieve.state import Mode, Scope

OWN_ALONE = "an artifact is written from the documents of its own workspace alone, so no other one was searched"
NO_DOCUMENTS = "the session has no such documents, so nothing was searched"


class ScopedQuestion(TypedDict):
    """What the node reads."""

    rag_scope: Scope | None
    document_ids: list[str] | None
    artifact_action: str | None
    conversation_mode: Mode
    active_pdf_document_id: str | None


async def select_scope(state: ScopedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Sets the scope, never wider than the message asks for: without documents, the scope `session` finds nothing."""
    scope, ids, issues = state["rag_scope"], state["document_ids"], list[str]()
    if state["conversation_mode"] == "chatpdf":
        scope, ids = "session", _open(state["active_pdf_document_id"], ids)
    elif scope is None:
        scope = "workspace" if ids is None else "session"
    elif scope == "global" and state["artifact_action"] is not None:
        scope, issues = "workspace", [OWN_ALONE]
    if scope == "session" and not ids:
        ids, issues = [], [NO_DOCUMENTS]
    for issue in issues:
        runtime.context.events.emit(ProviderIssue(message=issue))
    return {"rag_scope": scope, "document_ids": ids, "path": ["select_scope"], "issues": issues}


def _open(active: str | None, ids: list[str] | None) -> list[str] | None:
    """Returns the open document, if it may be searched."""
    if active is None:
        return ids
    return [active] if ids is None or active in ids else []
