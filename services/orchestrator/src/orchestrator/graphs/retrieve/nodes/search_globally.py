"""Searches the scope's index, and asks the graph if nothing limits the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from contracts.graph_tools import AnswerQuestion, StructuralAnswer
from contracts.run_events import ProviderIssue
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.retrieve.searching import found, search
from orchestrator.graphs.retrieve.state import SearchedQuery
from service_kit.problems import ServiceSilent

LONGEST_STRUCTURAL = 500
"""Maximum characters of a question that is passed to the graph."""


async def search_globally(state: SearchedQuery, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Asks both concurrently."""
    context = runtime.context
    response, (stated, issues) = await asyncio.gather(search(state, context), _stated(state, context))
    for issue in issues:
        context.events.emit(ProviderIssue(message=issue))
    return {**found(response, state, context), "stated": stated, "path": ["global"], "issues": issues}


async def _stated(
    state: SearchedQuery, context: ConversationContext
) -> tuple[StructuralAnswer | ServiceSilent | None, list[str]]:
    """Asks the graph, unless the answer is limited to certain documents; an issue says that the graph is behind."""
    question = state["rag_query"] or ""
    limited = state["document_ids"] is not None or "filters" in context.options
    if limited or len(question) > LONGEST_STRUCTURAL:
        return None, []
    try:
        reply = await context.graph_tools.answer(context.caller, AnswerQuestion(question=question))
    except ServiceSilent as error:
        return error, []
    # No result, but a number of documents: the question is about structure, and one of them may answer it.
    if reply is None or (reply.result is None and not reply.documents_pending):
        return None, []
    return reply.result, [reply.notice] if reply.notice else []
