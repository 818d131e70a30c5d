"""The routes of a workspace's quota."""

from __future__ import annotations

from fastapi import APIRouter

from contracts.ingestion import QuotaChoice, WorkspaceQuota
from ingestion.api.parts import UsedParts
from ingestion.documents.quotas import Quotas
from ingestion.settings import Settings
from service_kit.auth import Owner, Viewer

router = APIRouter(prefix="/v1/quota", tags=["ingestion"])


@router.get("", summary="Read the workspace's quota")
async def get_quota(caller: Viewer, here: UsedParts) -> WorkspaceQuota:
    """Returns how many documents, bytes and sources the workspace has, and may have."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        return await _state(Quotas(connection, caller.workspace_id), here.settings)


@router.patch("", summary="Limit the workspace")
async def change_quota(body: QuotaChoice, caller: Owner, here: UsedParts) -> WorkspaceQuota:
    """Requires an owner. A lower limit of the operator stays in force.

    Nothing is deleted if the workspace has more; it cannot grow until it has less.
    """
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        quotas = Quotas(connection, caller.workspace_id)
        await quotas.choose(body)
        return await _state(quotas, here.settings)


async def _state(quotas: Quotas, settings: Settings) -> WorkspaceQuota:
    return await quotas.state(
        settings.workspace_max_documents, settings.workspace_max_bytes, settings.workspace_max_sources
    )
