"""The internal route that other services call before they erase anything; not reachable from outside."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from contracts.ingestion import DeletedDocuments, DocumentIds
from contracts.registry import CONFIRM_DOCUMENT_DELETION
from ingestion.api.parts import Ingestion
from service_kit.auth import ServiceCaller, called_by
from service_kit.owners import DOCUMENTS_PATH

router = APIRouter(include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(*CONFIRM_DOCUMENT_DELETION))]


@router.post(DOCUMENTS_PATH)
async def deleted_documents(caller: Asking, body: DocumentIds, parts: Ingestion) -> DeletedDocuments:
    async with parts.catalogs.open(caller.workspace_id) as catalog:
        return DeletedDocuments(deleted=await catalog.deletions.deleted(body.document_ids))
