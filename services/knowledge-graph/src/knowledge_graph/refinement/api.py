"""Routes of the refinement: parse, call, return."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from contracts.base import Page, ProblemBody
from contracts.graph_refinement import (
    EstimateRequest,
    FailedChunk,
    RefinementEstimate,
    RefinementRequest,
    RefinementRun,
    RefinementSettings,
    RefinementSettingsUpdate,
    RefinementStatus,
    RemovedResults,
    Replayed,
    ReplayRequest,
    ResumeRequest,
)
from knowledge_graph.refinement.refine import Refinement, shown_failure
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.problems import BadCursor
from service_kit.request_headers import ExpectedVersion

router = APIRouter(prefix="/v1/graph", tags=["knowledge-graph"])
STALE: dict[int | str, dict[str, Any]] = {
    412: {"model": ProblemBody, "description": "If-Match names another version than the current one"}
}
UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": ProblemBody}}
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": ProblemBody, "description": "Turned off, no chat model, another run, or not in this state"}
}


def refinement(request: Request) -> Refinement:
    found: Refinement = request.app.state.refinement
    return found


Refining = Annotated[Refinement, Depends(refinement)]


@router.post("/estimates", summary="Estimate what refinement would take")
async def estimate(body: EstimateRequest, caller: Viewer, refining: Refining) -> RefinementEstimate:
    """Passages, calls, tokens, and costs where prices are configured. Nothing is spent."""
    return await refining.estimate(caller.workspace_id, body.document_ids)


@router.get("/refinement", summary="How far refinement is")
async def show_refinement(caller: Viewer, refining: Refining) -> RefinementStatus:
    """Passages of the workspace, and its newest run with what it has spent and its last error."""
    return await refining.status(caller.workspace_id)


@router.get("/refinement/settings", summary="Read the refinement settings")
async def get_refinement_settings(caller: Viewer, refining: Refining, response: Response) -> RefinementSettings:
    """Off until it is turned on. The header `ETag` is the version, for If-Match."""
    return _tagged(await refining.settings.get(caller.workspace_id), response)


@router.patch("/refinement/settings", summary="Change the refinement settings", responses=STALE)
async def change_refinement_settings(
    body: RefinementSettingsUpdate, caller: Editor, refining: Refining, version: ExpectedVersion, response: Response
) -> RefinementSettings:
    """What is left out stays. Turning refinement off pauses its run; results stay until they are removed.

    With If-Match only if the settings still have that version.
    """
    return _tagged(await refining.settings.change(caller.workspace_id, body, version), response)


@router.post("/refinement/runs", status_code=202, summary="Start a refinement run", responses=CONFLICT)
async def start_run(body: RefinementRequest, caller: Editor, refining: Refining) -> RefinementRun:
    """Sends passages without a result to the configured chat model until none is left or the budget is spent.

    Texts that were refined before, also in another document, are not sent again.
    """
    return refining.shown(await refining.runs.start(caller, body, refining.model))


@router.get("/refinement/runs", summary="List refinement runs")
async def list_runs(
    caller: Viewer, refining: Refining, limit: Limit = 50, cursor: Cursor = None
) -> Page[RefinementRun]:
    """Newest first."""
    before = None if cursor is None else _decoded(cursor, lambda at, run: (datetime.fromisoformat(at), UUID(run)))
    found = await refining.runs.newest(caller.workspace_id, before, limit + 1)
    items = [refining.shown(run) for run in found[:limit]]
    last = items[-1] if len(found) > limit else None
    return Page(items=items, next_cursor=_encoded(last.created_at.isoformat(), str(last.id)) if last else None)


@router.get("/refinement/runs/{run_id}", summary="Show a refinement run", responses=UNKNOWN)
async def show_run(run_id: UUID, caller: Viewer, refining: Refining) -> RefinementRun:
    """Its state, what it has spent, its last error."""
    return refining.shown(await refining.runs.get(caller.workspace_id, run_id))


@router.post("/refinement/runs/{run_id}/pause", summary="Pause a refinement run", responses=UNKNOWN | CONFLICT)
async def pause_run(run_id: UUID, caller: Editor, refining: Refining) -> RefinementRun:
    """No further call is begun; those under way are paid for, and are finished."""
    return refining.shown(await refining.runs.pause(caller.workspace_id, run_id))


@router.post("/refinement/runs/{run_id}/resume", summary="Resume a refinement run", responses=UNKNOWN | CONFLICT)
async def resume_run(run_id: UUID, body: ResumeRequest, caller: Editor, refining: Refining) -> RefinementRun:
    """Of a paused run, one whose budget is spent (with a new one) or a failed one."""
    await refining.runs.get(caller.workspace_id, run_id)
    return refining.shown(await refining.runs.resume(caller.workspace_id, run_id, body, refining.model))


@router.post("/refinement/runs/{run_id}/cancel", summary="Cancel a refinement run", responses=UNKNOWN | CONFLICT)
async def cancel_run(run_id: UUID, caller: Editor, refining: Refining) -> RefinementRun:
    """For good. What it has found stays in the graph."""
    return refining.shown(await refining.runs.cancel(caller.workspace_id, run_id))


@router.get("/refinement/failures", summary="List passages that could not be refined")
async def list_failures(
    caller: Viewer, refining: Refining, limit: Limit = 50, cursor: Cursor = None
) -> Page[FailedChunk]:
    """Each with the reason, document by document."""
    after = None if cursor is None else _decoded(cursor, lambda document, at: (UUID(document), int(at)))
    found = await refining.failures(caller.workspace_id, after, limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    following = _encoded(str(last.document_id), last.number) if last else None
    return Page(items=[shown_failure(one) for one in found[:limit]], next_cursor=following)


@router.post("/refinement/failures/replay", summary="Ask for failed passages again")
async def replay_failures(body: ReplayRequest, caller: Editor, refining: Refining) -> Replayed:
    """The present run takes them up, or the next one."""
    return Replayed(chunks=await refining.replay(caller.workspace_id, body.chunk_ids))


@router.delete("/refinement/results", status_code=202, summary="Remove what the model found")
async def remove_results(caller: Editor, refining: Refining) -> RemovedResults:
    """All results go at once, and a present run is paused; the documents are graphed anew without them, which the
    status shows (`unapplied_documents`)."""
    return await refining.remove_results(caller.workspace_id)


def _tagged(settings: RefinementSettings, response: Response) -> RefinementSettings:
    response.headers["ETag"] = f'"{settings.version}"'
    return settings


def _encoded(*place: str | int) -> str:
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _decoded(cursor: str, read: Any) -> Any:
    try:
        first, second = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return read(first, second)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadCursor from error
