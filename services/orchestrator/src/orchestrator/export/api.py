"""The route that exports the artifact of a session."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from contracts.artifacts import ArtifactFormat
from contracts.base import ProblemBody
from orchestrator.artifacts.api import NO_ARTIFACT, OptionalIndex, UsedEditing
from orchestrator.export.exporting import MEDIA_TYPES, ArtifactExporting
from service_kit.auth import Viewer
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/sessions/{session_id}/artifact", tags=["orchestrator"])
EXPORTING: Responses = {
    200: {
        "content": {media_type.partition(";")[0]: {} for media_type in MEDIA_TYPES},
        "description": "The file, named after the title",
    },
    409: {
        "model": ProblemBody,
        "description": "The artifact cannot be written in this format, or not within the limits",
    },
    503: {"model": ProblemBody, "description": "Too many exports, or this deployment cannot write the format"},
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "private, no-store",
}


UsedExporting = Annotated[ArtifactExporting, from_state("artifact_exporting")]


@router.get("/export", summary="Export the artifact", response_class=Response, responses={**NO_ARTIFACT, **EXPORTING})
async def export_artifact(
    session_id: UUID,
    caller: Viewer,
    using: UsedEditing,
    exporting: UsedExporting,
    format: Annotated[ArtifactFormat, Query(description="The file's format")] = ArtifactFormat.markdown,
    index: OptionalIndex = None,
) -> Response:
    """Returns a version, by default the current one, as a file to download; citations become footnotes.

    `source` is the text as it is, or for a PDF the uploaded file. HTML, DOCX and PDF contain no images, none of the
    text's HTML and no macros; images become links. What is too large or takes too long is rejected with a problem that
    says so.
    """
    file = await exporting.export(caller, await using.read(caller, session_id, index), format)
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{file.name}"'}
    if isinstance(file.body, bytes):
        return Response(file.body, media_type=file.media_type, headers=headers)
    return StreamingResponse(file.body, media_type=file.media_type, headers=headers)
