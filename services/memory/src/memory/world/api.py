"""Routes for the world state: the workspace's, or with `session_id` one of the caller's sessions'."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from contracts.base import Page, ProblemBody
from contracts.gateway import Role
from contracts.registry import ORCHESTRATOR
from contracts.world import ProjectStatus, World, WorldDiff, WorldEvent, WorldOperations, WorldRevert
from memory.world.settled_runs import SettledRuns
from memory.world.worlds import Worlds
from service_kit.auth import Principal, Viewer, viewer_through
from service_kit.idempotency import creation_id
from service_kit.pagination import Cursor, Limit
from service_kit.problems import Forbidden
from service_kit.request_headers import STALE, ExpectedVersion, IdempotencyKey, tagged
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/world", tags=["memory"])
READING: Responses = {
    404: {"model": ProblemBody, "description": "There is no such session of the caller, or no such version"},
    503: {"model": ProblemBody, "description": "The orchestrator could not say whose the session is"},
}
NOT_SETTLED: Responses = {409: {"model": ProblemBody, "description": "The end of the run did not arrive in time"}}
CHANGING: Responses = {
    **READING,
    409: {"model": ProblemBody, "description": "An operation does not fit what the world holds now"},
    **STALE,
}


UsedSettledRuns = Annotated[SettledRuns, from_state("settled_runs")]
UsedWorlds = Annotated[Worlds, from_state("worlds")]
Asking = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR))]
SessionId = Annotated[UUID | None, Query(description="The caller's session whose world it is; else the workspace's")]
AfterRun = Annotated[UUID | None, Query(description="Wait until this run of the caller has changed what it changes")]
Version = Annotated[int | None, Query(ge=1, le=10**9, description="As it was at this version; else as it is now")]


@router.get("", summary="Read the world state", responses=READING | NOT_SETTLED)
async def get_world(
    caller: Asking,
    worlds: UsedWorlds,
    runs: UsedSettledRuns,
    response: Response,
    session_id: SessionId = None,
    version: Version = None,
    after_run: AfterRun = None,
    timeout: Annotated[float, Query(ge=0, le=300, description="Maximum seconds to wait")] = 30,
) -> World:
    """Returns the document of the workspace, or of a session. A new world has defaults.

    The header `ETag` is the version, for If-Match. With `after_run`, the document has what that run changed; a run that
    failed or was cancelled changes nothing.
    """
    if after_run is not None:
        await runs.wait(caller, after_run, timeout)
    return tagged(await worlds.show(caller, session_id, version), response)


@router.post("/operations", summary="Change the world state", responses=CHANGING)
async def apply_operations(
    body: WorldOperations,
    caller: Asking,
    worlds: UsedWorlds,
    response: Response,
    version: ExpectedVersion,
    key: IdempotencyKey,
    session_id: SessionId = None,
) -> World:
    """Applies operations in order, all or none; each that changes something is an event and increases the version.

    The workspace's world requires the role editor, one's own session's does not. With If-Match, fails unless the world
    still has that version. With `dry_run`, the response shows the result, and nothing is saved.
    """
    if not body.dry_run:
        _require_editor(caller, session_id)
    change_id = creation_id(caller.user_id, key, "world") if key else None
    changed = await worlds.apply(
        caller, session_id, body.operations, expected=version, change_id=change_id, dry_run=body.dry_run
    )
    return tagged(changed, response)


@router.get("/history", summary="List the events of the world state", responses=READING)
async def list_world_events(
    caller: Viewer, worlds: UsedWorlds, session_id: SessionId = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[WorldEvent]:
    """Lists who changed what, newest first: an event for each version."""
    return await worlds.history(caller, session_id, limit, cursor)


@router.get("/status", summary="Read the status of the project", response_model=ProjectStatus)
async def get_project_status(caller: Viewer, worlds: UsedWorlds) -> Response:
    """Returns what holds for the workspace now: goals, decisions, open questions, documents and recent activity.

    It is compiled without a model, also after each turn: as long as nothing changes, the bytes stay the same.
    """
    return Response(await worlds.status(caller), media_type="application/json")


@router.get("/diff", summary="Compare two versions of the world state", responses=READING)
async def compare_worlds(
    caller: Viewer,
    worlds: UsedWorlds,
    since: Annotated[int, Query(alias="from", ge=1, le=10**9, description="The earlier version")],
    until: Annotated[int | None, Query(alias="to", ge=1, le=10**9, description="The later one; else now")] = None,
    session_id: SessionId = None,
) -> WorldDiff:
    """Lists the paths whose values differ, with both values."""
    return await worlds.diff(caller, session_id, since, until)


@router.post("/revert", summary="Restore a version of the world state", responses=CHANGING)
async def revert_world(
    body: WorldRevert,
    caller: Viewer,
    worlds: UsedWorlds,
    response: Response,
    version: ExpectedVersion,
    session_id: SessionId = None,
) -> World:
    """Restores the document to a version, by operations that are events themselves: no version is lost."""
    _require_editor(caller, session_id)
    return tagged(await worlds.revert(caller, session_id, body.version, version), response)


def _require_editor(caller: Principal, session_id: UUID | None) -> None:
    """Raises Forbidden unless the caller may change what all members see; a service never may."""
    if caller.via is not None:
        raise Forbidden(f"{caller.via} may only try operations out")
    if session_id is None and caller.role.rank < Role.editor.rank:
        raise Forbidden(f"this needs the role editor; the key has {caller.role.value}")
