"""Lists the indexed documents, for comparison with what should be indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from contracts.base import Page
from contracts.registry import INGESTION
from contracts.retrieval import IndexedDocument
from inference.embedders import SpaceKey
from retrieval.index.documents import IndexDocumentSql
from retrieval.spaces.rows import SpaceRows
from service_kit.auth import viewer_or
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/index", tags=["retrieval"])
BEFORE_ALL = UUID(int=0)


@dataclass(frozen=True)
class IndexDocuments:
    """Lists indexed documents; `default` is the embedding space of workspaces without an active one."""

    database: Database
    default: SpaceKey

    async def page(self, workspace_id: UUID, limit: int, cursor: str | None) -> Page[IndexedDocument]:
        """Returns documents by id, with the number of their vectors in the active space. Raises BadCursor."""
        (after,) = decode_cursor(cursor, UUID)
        async with self.database.workspace(workspace_id) as connection:
            active = await SpaceRows(connection, workspace_id).active()
            model, dims = active.key if active else self.default
            values = {"after": after or BEFORE_ALL, "limit": limit + 1, "model": model, "dims": dims}
            rows = await Repository(connection, workspace_id).all(IndexDocumentSql.page, IndexedDocument, **values)
        return page(rows, limit, lambda row: (row.document_id,))


UsedDocuments = Annotated[IndexDocuments, from_state("index_documents")]
Surveyed = Annotated[UUID, Depends(viewer_or(INGESTION))]


@router.get("/documents", summary="List the indexed documents")
async def list_indexed(
    workspace_id: Surveyed, documents: UsedDocuments, limit: Limit = 100, cursor: Cursor = None
) -> Page[IndexedDocument]:
    """Lists documents by id, for comparison with what should be indexed; the gateway does not route it."""
    return await documents.page(workspace_id, limit, cursor)
