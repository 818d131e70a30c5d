"""Searches the documents and, for a chat model, the memory."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.events import ProviderIssue, StageOutput
from contracts.memory import RecallRequest
from contracts.retrieval import SearchRequest, SearchResponse
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import passage_of
from orchestrator.graphs.conversation.state import FoundChunk, State
from service_kit.problems import ServiceSilent


async def retrieve(state: State, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Reports a failed search, and the turn goes on without sources; likewise without memories."""
    context = runtime.context
    found, recalled = await asyncio.gather(_search(state, context), _recall(state, context))
    failures = [failure for failure in (found, recalled) if isinstance(failure, ServiceSilent)]
    for failure in failures:
        context.events.emit(ProviderIssue(message=str(failure)))
    passages = [] if isinstance(found, ServiceSilent) else [passage_of(hit) for hit in found.hits]
    relevant = bool(passages) and not isinstance(found, ServiceSilent) and found.good_match
    context.events.emit(StageOutput(stage="retrieve", output=_sources(passages, relevant)))
    return {
        "search": "failed" if isinstance(found, ServiceSilent) else "found" if relevant else "nothing",
        "passages": passages if relevant else [],
        "memories": [] if isinstance(recalled, ServiceSilent) else recalled,
        "issues": [str(failure) for failure in failures],
    }


async def _search(state: State, context: ConversationContext) -> SearchResponse | ServiceSilent:
    ids = state["document_ids"]
    request = SearchRequest(
        query=state["question"],
        k=context.limits.search_k,
        document_ids=None if ids is None else [UUID(one) for one in ids],
        # Only quotations need them, and they cost time before the first word.
        highlight=context.chat is None,
    )
    try:
        return await context.retrieval.search(context.caller, request)
    except ServiceSilent as error:
        return error


async def _recall(state: State, context: ConversationContext) -> list[str] | ServiceSilent:
    """Recalls memories for a model's answer only: an extractive one quotes the documents and nothing else."""
    if context.chat is None:
        return []
    try:
        answer = await context.memory.recall(context.caller, RecallRequest(query=state["question"]))
    except ServiceSilent as error:
        return error
    return [memory.content for memory in answer.memories]


def _sources(passages: list[FoundChunk], relevant: bool) -> dict[str, Any]:
    shown = ("chunk_id", "document_id", "document_name", "section", "page", "score")
    sources = [{name: value for name, value in passage.items() if name in shown} for passage in passages]
    return {"good_match": relevant, "sources": sources}
