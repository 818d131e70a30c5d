"""Routes of the index: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.base import Page
from contracts.retrieval import IndexedDocument
from retrieval.index.listing import IndexDocuments
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit

router = APIRouter(prefix="/v1/index", tags=["retrieval"])


def index_documents(request: Request) -> IndexDocuments:
    found: IndexDocuments = request.app.state.index_documents
    return found


InUse = Annotated[IndexDocuments, Depends(index_documents)]


@router.get("/documents", summary="List the indexed documents")
async def list_indexed(
    caller: Viewer, using: InUse, limit: Limit = 100, cursor: Cursor = None
) -> Page[IndexedDocument]:
    """Lists by id, for comparison with what should be indexed; the gateway does not route it."""
    return await using.page(caller.workspace_id, limit, cursor)
