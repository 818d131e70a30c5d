"""The dependencies of the routes, built in app.py."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from contracts.base import ProblemBody
from contracts.ingestion import DocumentDetail
from ingestion.documents import listing
from ingestion.documents.catalog import Catalogs
from ingestion.settings import Settings
from ingestion.uploads.upload import Uploads
from service_kit.auth import Principal
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.routes import Responses, from_state

DOCUMENT_CHANNEL = "ingestion_document"
WORK_CHANNEL = "ingestion_work"
MISSING: Responses = {404: {"model": ProblemBody, "description": "No such document"}}


@dataclass(frozen=True)
class ApiParts:
    settings: Settings
    catalogs: Catalogs
    objects: ObjectStore
    notifications: Notifications
    uploads: Uploads
    workers_wanted: Callable[[], Awaitable[int]]

    async def detail(self, caller: Principal, document_id: UUID) -> DocumentDetail:
        """Returns the document as the API shows it; raises DocumentNotFound."""
        return await listing.detail(self.catalogs, self.settings.lease_seconds, caller.workspace_id, document_id)


UsedParts = Annotated[ApiParts, from_state("ingestion")]
