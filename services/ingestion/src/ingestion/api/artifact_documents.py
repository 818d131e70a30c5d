"""Internal routes by which the orchestrator stores artifacts as documents; not reachable from outside."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request

from contracts.artifacts import ARTIFACT_DOCUMENTS_PATH
from contracts.ingestion import OriginKind, UploadedFile
from contracts.registry import ORCHESTRATOR
from contracts.sources import OnRemoved
from ingestion.api.parts import UsedParts
from ingestion.documents.origins import Provenance
from ingestion.uploads.errors import NoFiles
from ingestion.uploads.multipart import received_files
from ingestion.uploads.upload import Key
from service_kit.auth import ServiceCaller, called_by

router = APIRouter(prefix=ARTIFACT_DOCUMENTS_PATH, include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(ORCHESTRATOR))]


@router.put("/{artifact_id}")
async def put_artifact_document(artifact_id: UUID, request: Request, caller: Asking, here: UsedParts) -> UploadedFile:
    """Stores the only file of the body as the artifact's document, or as its new version."""
    work = await here.uploads.begin(caller.workspace_id, Key(OriginKind.artifact, str(artifact_id)))
    content_type, settings = request.headers.get("content-type", ""), here.settings
    incoming = received_files(content_type, request.stream(), settings.upload_folder, settings.max_file_bytes)
    async with aclosing(incoming):
        async for received in incoming:
            [taken] = await work.accept(received)
            return taken
    raise NoFiles


@router.delete("/{artifact_id}", status_code=204)
async def delete_artifact_document(artifact_id: UUID, caller: Asking, here: UsedParts) -> None:
    """Deletes the artifact's document, unless the same bytes also came from elsewhere; nothing if there is none."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        origin = await catalog.origins.at(Provenance(OriginKind.artifact, None, str(artifact_id)))
    if origin is not None:
        await here.uploads.intake.drop(caller.workspace_id, origin.id, OnRemoved.delete)
