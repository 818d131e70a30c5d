"""Routes: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.base import Page, ProblemBody
from contracts.retrieval import IndexedDocument, SearchRequest, SearchResponse
from retrieval.index.held import IndexDocuments
from retrieval.search.search import Search
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit

router = APIRouter(prefix="/v1", tags=["retrieval"])


def search(request: Request) -> Search:
    found: Search = request.app.state.search
    return found


def index_documents(request: Request) -> IndexDocuments:
    found: IndexDocuments = request.app.state.index_documents
    return found


InUse = Annotated[Search, Depends(search)]
Held = Annotated[IndexDocuments, Depends(index_documents)]


@router.post("/search", summary="Search the workspace's documents", responses={503: {"model": ProblemBody}})
async def search_chunks(body: SearchRequest, caller: Viewer, using: InUse) -> SearchResponse:
    """The `k` passages that answer the query best, from documents of the caller's workspace.

    `hybrid` (the default) adds up meaning (cosine of embeddings), words (BM25) and names; `rrf`, `lexical` and `dense`
    are there to compare. A leg that is late or fails is left out and named in `legs`. `good_match` false means that
    nothing found is likely to answer.
    """
    return await using(caller.workspace_id, body)


@router.get("/index/documents", summary="List the documents that the index holds")
async def list_indexed(caller: Viewer, held: Held, limit: Limit = 100, cursor: Cursor = None) -> Page[IndexedDocument]:
    """In the order of their ids. For comparison with what it should hold; the gateway does not route it."""
    return await held.page(caller.workspace_id, limit, cursor)
