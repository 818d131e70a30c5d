"""Code that both searches share: the request to retrieval, and the state from its response."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from contracts.retrieval import Hit, SearchFilters, SearchRequest, SearchResponse, SearchScope
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import passage_of
from orchestrator.graphs.conversation.state import FoundChunk
from orchestrator.graphs.retrieve.beginnings import (
    request_for_beginnings,
    request_for_named,
    with_beginnings,
    with_named,
)
from orchestrator.graphs.retrieve.state import SearchedQuery
from service_kit.problems import ServiceSilent


async def search(state: SearchedQuery, context: ConversationContext) -> SearchResponse | ServiceSilent:
    """Returns retrieval's response or its failure. The session's documents are sent by id.

    To be quoted, documents that the query names and their beginnings are added: "Who wrote the report on noise?"
    """
    ids = state["document_ids"]
    limits = SearchFilters.model_validate(context.options.get("filters", {}))
    request = SearchRequest(
        query=state["rag_query"] or "",
        queries=state["rag_variants"],
        k=context.limits.search_k,
        scope=SearchScope.every if state["rag_scope"] == "global" else SearchScope.workspace,
        document_ids=None if ids is None else [UUID(one) for one in ids],
        source_ids=limits.source_ids,
        tags=limits.tags,
        # Only quotations need highlights, which delay the first word.
        highlight=context.models.of("answer") is None,
    )
    try:
        response = await context.retrieval.search(context.caller, request)
    except ServiceSilent as error:
        return error
    if not request.highlight:
        return response
    try:
        if (more := request_for_named(request, response)) is not None:
            response = with_named(response, await context.retrieval.search(context.caller, more))
        if (more := request_for_beginnings(request, response)) is not None:
            response = with_beginnings(response, await context.retrieval.search(context.caller, more))
    except ServiceSilent:
        return response  # what was found answers, too
    return response


def found(
    response: SearchResponse | ServiceSilent, state: SearchedQuery, context: ConversationContext
) -> dict[str, Any]:
    """Returns the part of the state that a search fills."""
    hits = [] if isinstance(response, ServiceSilent) else response.hits
    everywhere = state["rag_scope"] == "global"
    passages = [_passage(hit, context.caller.workspace_id if everywhere else None) for hit in hits]
    named = ("chunk_id", "document_id", "workspace_id", "page", "score")
    return {
        "response": response,
        "rag_context": passages,
        "rag_citations": [{name: value for name, value in one.items() if name in named} for one in passages],
    }


def _passage(hit: Hit, home: UUID | None) -> FoundChunk:
    """Returns the chunk, with its workspace if that may differ from `home` and does."""
    passage = passage_of(hit)
    if home is not None and hit.workspace_id != home:
        passage["workspace_id"] = str(hit.workspace_id)
    return passage
