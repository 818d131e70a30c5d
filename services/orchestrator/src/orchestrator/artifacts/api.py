"""Routes of the artifact of a session."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response, status

from contracts.artifacts import (
    ArtifactDiff,
    ArtifactPatch,
    ArtifactPut,
    ArtifactReceipt,
    ArtifactRestore,
    ArtifactVersion,
    ArtifactView,
    IndexedArtifact,
)
from contracts.base import Page, ProblemBody
from orchestrator.artifacts.editing import ArtifactEditing
from orchestrator.artifacts.indexing import ArtifactIndexing
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import ExpectedVersion, tagged
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/sessions/{session_id}/artifact", tags=["orchestrator"])
NO_ARTIFACT: Responses = {
    404: {"model": ProblemBody, "description": "The caller has no such session, or it has no such artifact or version"}
}
STALE: Responses = {
    412: {"model": ProblemBody, "description": "If-Match names a version that is not the current one (`version`)"}
}
UNSUITABLE: Responses = {
    409: {"model": ProblemBody, "description": "It is a PDF, or the text to replace is not found exactly once"}
}
AWAY: Responses = {503: {"model": ProblemBody, "description": "Its document could not be deleted; nothing was"}}
INDEXING: Responses = {
    409: {"model": ProblemBody, "description": "It is a PDF, or ingestion did not accept it (`reason`)"},
    503: {"model": ProblemBody, "description": "Ingestion does not answer"},
}
NOTHING: Responses = {409: {"model": ProblemBody, "description": "There is no version to go to"}}
PUTTING: Responses = {
    201: {"model": ArtifactView, "description": "The session's artifact was created"},
    409: {"model": ProblemBody, "description": "It is a PDF, or would become one; or the document is not converted"},
    503: {"model": ProblemBody, "description": "The document of a PDF could not be read"},
}
Index = Annotated[int, Path(ge=1, le=2_000_000_000, description="The version, counted from 1")]
OptionalIndex = Annotated[int | None, Query(ge=1, le=2_000_000_000)]


UsedIndexing = Annotated[ArtifactIndexing, from_state("artifact_indexing")]
UsedEditing = Annotated[ArtifactEditing, from_state("artifacts")]


@router.get("", summary="Read the artifact", responses={**NO_ARTIFACT})
async def get_artifact(session_id: UUID, caller: Viewer, using: UsedEditing, response: Response) -> ArtifactView:
    """Returns the current version with its text. The header `ETag` is for `If-Match`."""
    return tagged(await using.read(caller, session_id), response)


@router.put("", summary="Write the artifact", responses={**NO_ARTIFACT, **PUTTING, **STALE})
async def put_artifact(
    session_id: UUID,
    body: ArtifactPut,
    caller: Viewer,
    using: UsedEditing,
    version: ExpectedVersion,
    response: Response,
) -> ArtifactView:
    """Creates the artifact of a session, which has at most one, or adds a version with the whole text.

    Every version is kept. With `If-Match`, adds it only if nobody has changed the artifact since. Citations stay if
    their sentence is unchanged.
    """
    view, is_new = await using.put(caller, session_id, body, version)
    response.status_code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
    return tagged(view, response)


@router.patch("", summary="Change a part of the artifact", responses={**NO_ARTIFACT, **UNSUITABLE, **STALE})
async def patch_artifact(
    session_id: UUID,
    body: ArtifactPatch,
    caller: Viewer,
    using: UsedEditing,
    version: ExpectedVersion,
    response: Response,
) -> ArtifactView:
    """Replaces a span as seen in a version, or what `edits` find; everything else stays as it is.

    A span is located in the current text, since others may have changed other places meanwhile. If it is not found with
    certainty (`span-lost`), or a `find` does not occur exactly once (`edits-misplaced`), nothing changes.
    """
    return tagged(await using.patch(caller, session_id, body, version), response)


@router.get("/versions", summary="List the versions of the artifact", responses={**NO_ARTIFACT})
async def list_artifact_versions(
    session_id: UUID, caller: Viewer, using: UsedEditing, limit: Limit = 50, cursor: Cursor = None
) -> Page[ArtifactVersion]:
    """Lists the newest first, without their texts, including those that a run made and set aside."""
    return await using.versions(caller, session_id, limit, cursor)


@router.get("/versions/{index}", summary="Read a version of the artifact", responses={**NO_ARTIFACT})
async def get_artifact_version(
    session_id: UUID, index: Index, caller: Viewer, using: UsedEditing, response: Response
) -> ArtifactView:
    """Returns the version as it was written."""
    return tagged(await using.read(caller, session_id, index), response)


@router.get("/diff", summary="Compare two versions of the artifact", responses={**NO_ARTIFACT})
async def diff_artifact(
    session_id: UUID,
    caller: Viewer,
    using: UsedEditing,
    from_index: OptionalIndex = None,
    to_index: OptionalIndex = None,
) -> ArtifactDiff:
    """Compares the current version with the one it was made from by default; a first version with nothing (0)."""
    return await using.compare(caller, session_id, from_index, to_index)


@router.post("/undo", summary="Undo a change of the artifact", responses={**NO_ARTIFACT, **NOTHING, **STALE})
async def undo_artifact(
    session_id: UUID, caller: Viewer, using: UsedEditing, version: ExpectedVersion, response: Response
) -> ArtifactView:
    """Makes the version that the current one was made from the current version; no version is lost."""
    return tagged(await using.undo(caller, session_id, version), response)


@router.post("/redo", summary="Redo a change of the artifact", responses={**NO_ARTIFACT, **NOTHING, **STALE})
async def redo_artifact(
    session_id: UUID, caller: Viewer, using: UsedEditing, version: ExpectedVersion, response: Response
) -> ArtifactView:
    """Makes the newest version that was made from the current one the current version."""
    return tagged(await using.redo(caller, session_id, version), response)


@router.post("/restore", summary="Restore a version of the artifact", responses={**NO_ARTIFACT, **STALE})
async def restore_artifact(
    session_id: UUID,
    body: ArtifactRestore,
    caller: Viewer,
    using: UsedEditing,
    version: ExpectedVersion,
    response: Response,
) -> ArtifactView:
    """Adds a version with the text of an earlier one, or of one that was set aside; undo goes back."""
    return tagged(await using.restore(caller, session_id, body.index, version), response)


@router.post("/index", summary="Turn the artifact into a document", responses={**NO_ARTIFACT, **INDEXING})
async def index_artifact(
    session_id: UUID, caller: Editor, using: UsedEditing, indexing: UsedIndexing, index: OptionalIndex = None
) -> IndexedArtifact:
    """Turns a version, by default the current one, into a document that all members of the workspace can search.

    The next indexed version replaces it; it is deleted with the artifact. Requires the role editor, as an upload does.
    """
    return await indexing.index(caller, await using.read(caller, session_id, index))


@router.delete("", summary="Delete the artifact", responses={**NO_ARTIFACT, **STALE, **AWAY})
async def delete_artifact(
    session_id: UUID, caller: Viewer, using: UsedEditing, version: ExpectedVersion
) -> ArtifactReceipt:
    """Deletes all its versions, and the document made from one of them; returns what was deleted and what is left.

    Searches may find the document for a moment longer; `GET /v1/documents/{id}/receipt` says when every service has
    deleted it.
    """
    return await using.delete(caller, session_id, version)
