"""What other services ask before they erase something; not reachable from outside."""

from __future__ import annotations

from fastapi import APIRouter

from contracts.ingestion import DeletedDocuments, DocumentIds
from ingestion.api.parts import Ingestion
from service_kit.auth import Viewer
from service_kit.owners import DOCUMENTS_PATH

router = APIRouter(include_in_schema=False)


@router.post(DOCUMENTS_PATH)
async def deleted_documents(caller: Viewer, body: DocumentIds, parts: Ingestion) -> DeletedDocuments:
    async with parts.catalogs.open(caller.workspace_id) as catalog:
        return DeletedDocuments(deleted=await catalog.deletions.deleted(body.document_ids))
