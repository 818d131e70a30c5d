"""Routes of the index: parse, call, return."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from contracts.base import Page
from contracts.registry import INGESTION
from contracts.retrieval import IndexedDocument
from retrieval.index.listing import IndexDocuments
from service_kit.auth import viewer_or
from service_kit.pagination import Cursor, Limit
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/index", tags=["retrieval"])


InUse = Annotated[IndexDocuments, from_state("index_documents")]
Surveyed = Annotated[UUID, Depends(viewer_or(INGESTION))]


@router.get("/documents", summary="List the indexed documents")
async def list_indexed(
    workspace_id: Surveyed, using: InUse, limit: Limit = 100, cursor: Cursor = None
) -> Page[IndexedDocument]:
    """Lists documents by id, for comparison with what should be indexed; the gateway does not route it."""
    return await using.page(workspace_id, limit, cursor)
