"""Routes: parse, call, return."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from contracts.base import ProblemBody
from contracts.registry import KNOWLEDGE_GRAPH, ORCHESTRATOR
from contracts.retrieval import SearchRequest, SearchResponse, WhyRequest, WhyResponse
from retrieval.search.scoped_search import ScopedSearch
from retrieval.search.why import why
from service_kit.auth import Principal, viewer_through
from service_kit.routes import from_state

router = APIRouter(prefix="/v1", tags=["retrieval"])


UsedSearch = Annotated[ScopedSearch, from_state("search")]
Searcher = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR, KNOWLEDGE_GRAPH))]

REFUSED: dict[int | str, dict[str, Any]] = {
    403: {"model": ProblemBody, "description": "The scope `global` requires a key for all workspaces"},
    404: {"model": ProblemBody, "description": "The user has no such session in this workspace"},
    422: {"model": ProblemBody, "description": "A filter or the scope is invalid; `type` says why"},
    503: {"model": ProblemBody},
}


@router.post("/search", summary="Search documents", responses=REFUSED)
async def search_chunks(body: SearchRequest, caller: Searcher, search: UsedSearch) -> SearchResponse:
    """Returns the `k` chunks that answer the query best, among the documents selected by scope and filters.

    `hybrid` (the default) adds up meaning (cosine of embeddings), words (BM25), names and what the knowledge graph
    reaches; `convex` and `rrf` merge the legs by their scores or by their ranks; `lexical` and `dense` are single legs.
    A leg that is late or fails is left out and named in `legs`. `good_match` is false if nothing found is likely to
    answer the query. A `global` search searches each workspace and merges the hits by score; workspaces that fail are
    named in `legs`.
    """
    return await search(caller, body)


@router.post("/search/why", summary="Explain why a search does not find a document", responses=REFUSED)
async def explain_absence(body: WhyRequest, caller: Searcher, search: UsedSearch) -> WhyResponse:
    """Repeats the search and returns the document's rank with its score in each leg; or else what keeps it out: the
    filters, a duplicate, hits that rank higher, or that no leg finds anything of it for this query.
    """
    return await why(search, caller, body)
