"""Lists the indexed documents, for comparison with what should be indexed."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.base import Page
from contracts.retrieval import IndexedDocument
from inference.embeddings import EmbeddingSpace
from retrieval.index.documents import IndexDocumentRows
from retrieval.spaces.rows import SpaceRows
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Database

BEFORE_ALL = UUID(int=0)


@dataclass(frozen=True)
class IndexDocuments:
    """Lists indexed documents; `default` is the embedding space of workspaces without an active one."""

    database: Database
    default: EmbeddingSpace

    async def page(self, workspace_id: UUID, limit: int, cursor: str | None) -> Page[IndexedDocument]:
        """Returns documents by id, with the number of their vectors in the active space. Raises BadCursor."""
        (after,) = decode_cursor(cursor, UUID)
        async with self.database.workspace(workspace_id) as connection:
            active = await SpaceRows(connection, workspace_id).active()
            space = active.key if active else (self.default.model, self.default.dims)
            rows = await IndexDocumentRows(connection, workspace_id).page(after or BEFORE_ALL, limit + 1, space)
        return page(rows, limit, lambda row: (row.document_id,))
