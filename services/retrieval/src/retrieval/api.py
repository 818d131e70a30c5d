"""Routes: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.base import ProblemBody
from contracts.retrieval import SearchRequest, SearchResponse
from retrieval.search import Search
from service_kit.auth import Viewer

router = APIRouter(prefix="/v1", tags=["retrieval"])


def search(request: Request) -> Search:
    found: Search = request.app.state.search
    return found


InUse = Annotated[Search, Depends(search)]


@router.post("/search", summary="Search the workspace's documents", responses={503: {"model": ProblemBody}})
async def search_chunks(body: SearchRequest, caller: Viewer, using: InUse) -> SearchResponse:
    """The `k` passages that answer the query best, from documents of the caller's workspace.

    `hybrid` (the default) adds up meaning (cosine of embeddings), words (BM25) and names; `rrf`, `lexical` and `dense`
    are there to compare. A leg that is late or fails is left out and named in `legs`. `good_match` false means that
    nothing found is likely to answer.
    """
    return await using(caller.workspace_id, body)
