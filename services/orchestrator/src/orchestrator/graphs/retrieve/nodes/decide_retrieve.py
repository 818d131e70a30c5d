"""Decides whether the documents are searched, and waits for the session's documents that are being processed."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.retrieval import MOST_CHARACTERS
from contracts.run_events import ProviderIssue
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.services import AwaitedDocument, IngestionService
from service_kit.problems import ServiceSilent

MOST_AWAITED = 20
WENT_WITHOUT = "{names} could not be searched yet: still being read"


class DecidedQuestion(TypedDict):
    """What the node reads."""

    question: str
    rag_enabled: bool
    document_ids: list[str] | None


async def decide_retrieve(state: DecidedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Sets `rag_query` to the question if there is something to search for and retrieval is enabled."""
    query = state["question"].strip()[:MOST_CHARACTERS]
    if not state["rag_enabled"] or not query:
        return {"rag_query": None, "path": ["decide_retrieve"]}
    issues = await _unread(state["document_ids"] or [], runtime.context)
    for issue in issues:
        runtime.context.events.emit(ProviderIssue(message=issue))
    return {"rag_query": query, "path": ["decide_retrieve"], "issues": issues}


async def _unread(document_ids: list[str], context: ConversationContext) -> list[str]:
    """Returns notices about documents that did not become searchable in time; it waits for the last attached ones."""
    if context.documents is None or not document_ids:
        return []
    newest = [UUID(one) for one in document_ids[:MOST_AWAITED]]
    try:
        found = await context.documents.listed(context.caller, newest)
        waits = [_name_of_unread(one, context.documents, context) for one in found if one.is_unread]
        names = [name for name in await asyncio.gather(*waits) if name is not None]
    except ServiceSilent as error:
        return [f"nobody could say whether the documents are read: {error}"]
    return [WENT_WITHOUT.format(names=", ".join(sorted(names)))] if names else []


async def _name_of_unread(
    document: AwaitedDocument, documents: IngestionService, context: ConversationContext
) -> str | None:
    """Returns the name of the document if it is still being processed when the wait is over. Raises ServiceSilent."""
    seconds, now = context.limits.document_wait_seconds, document
    if seconds:
        waited = await documents.awaited(context.caller, document.id, seconds)
        if waited is None:
            return None
        now = waited
    return now.name if now.is_unread else None
