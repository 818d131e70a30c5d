"""The internal routes, not reachable from outside: what other services ask before they erase anything, what the graph
asks, and what an autoscaler of workers asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from contracts.ingestion import UNGRAPHED_PATH, DeletedDocuments, DocumentIds, UngraphedDocuments
from contracts.registry import CONFIRM_DOCUMENT_DELETION, KNOWLEDGE_GRAPH
from ingestion.api.parts import UsedParts
from service_kit.auth import ServiceCaller, called_by
from service_kit.owners import DOCUMENTS_PATH

WORKERS_PATH = "/internal/workers"
router = APIRouter(include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(*CONFIRM_DOCUMENT_DELETION))]
Graph = Annotated[ServiceCaller, Depends(called_by(KNOWLEDGE_GRAPH))]


@router.post(DOCUMENTS_PATH)
async def deleted_documents(caller: Asking, body: DocumentIds, parts: UsedParts) -> DeletedDocuments:
    async with parts.catalogs.open(caller.workspace_id) as catalog:
        return DeletedDocuments(deleted=await catalog.deletions.deleted(body.document_ids))


@router.get(UNGRAPHED_PATH)
async def ungraphed_documents(caller: Graph, parts: UsedParts) -> UngraphedDocuments:
    async with parts.catalogs.open(caller.workspace_id) as catalog:
        return UngraphedDocuments(documents=await catalog.stages.count_ungraphed())


@router.get(WORKERS_PATH)
async def wanted_workers(parts: UsedParts) -> dict[str, int]:
    """Returns how many workers are wanted. Needs no token, like /metrics: an autoscaler has none."""
    return {"wanted": await parts.workers_wanted()}
