"""Routes of runs."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody
from contracts.orchestrator import Run, RunStatus
from orchestrator.errors import RunNotFailed
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import RunStreams, parse_event_id
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.routes import Responses, from_state
from service_kit.server_sent import event_stream

router = APIRouter(prefix="/v1/runs", tags=["orchestrator"])
NOT_FAILED: Responses = {
    409: {"model": ProblemBody, "description": "The run has not failed"},
    503: {"model": ProblemBody, "description": "The run's events cannot be written"},
}
TOO_MANY_QUEUED: Responses = {
    429: {"model": ProblemBody, "description": "The caller has the maximum number of waiting runs; see Retry-After"}
}
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "The caller has no such run in this workspace"}}


UsedRuns = Annotated[RunStore, from_state("runs")]
UsedStreams = Annotated[RunStreams, from_state("streams")]
MaxAttempts = Annotated[int, from_state("run_max_attempts")]
Statuses = Annotated[Sequence[RunStatus], Query(max_length=len(RunStatus), description="Only runs in these states")]


@router.get("", summary="List the caller's runs")
async def list_runs(
    caller: Viewer,
    runs: UsedRuns,
    session_id: UUID | None = None,
    status: Statuses = (),
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Run]:
    """Lists the newest first, without their answers; runs of temporary sessions only with `session_id`.

    `status` may be given several times.
    """
    return await runs.page(caller, limit, cursor, session_id, status)


@router.get("/{run_id}", summary="Read a run", responses={**NOT_FOUND})
async def get_run(
    run_id: UUID,
    caller: Viewer,
    runs: UsedRuns,
    debug: Annotated[bool, Query(description="Include how it was routed and how its search went")] = False,
) -> Run:
    """Includes the answer once the run is completed."""
    return await runs.get(caller, run_id, debug=debug)


@router.get(
    "/{run_id}/events",
    summary="Follow a run",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "The run's events, up to its terminal event"},
        204: {"description": "The run has ended, and Last-Event-ID names its terminal event"},
        **NOT_FOUND,
    },
)
async def run_events(
    run_id: UUID,
    caller: Viewer,
    runs: UsedRuns,
    streams: UsedStreams,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Sends the run's events from the beginning, or after `Last-Event-ID`, and then as they occur.

    The last one is `run_completed`, `run_failed` or `run_cancelled`. `run_completed` carries the whole answer, which
    replaces the text of the deltas. Once the stream has expired, or while it cannot be
    read, the same events are sent for 30 days, with the text as one delta; after that only the terminal one.
    """
    after = parse_event_id(last_event_id)
    run = await runs.get(caller, run_id)
    if await streams.nothing_left(caller, run, after):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    streams.admit()
    return event_stream(streams.follow(caller, run, after))


@router.post("/{run_id}/cancel", summary="Cancel a run", responses={**NOT_FOUND})
async def cancel_run(run_id: UUID, caller: Viewer, runs: UsedRuns, streams: UsedStreams) -> Run:
    """Ends a waiting run at once and a running one within moments. A run that has ended stays as it is."""
    await streams.cancel(caller, run_id)
    return await runs.get(caller, run_id)


@router.post(
    "/{run_id}/retry",
    summary="Try a failed run again",
    responses={**NOT_FOUND, **NOT_FAILED, **TOO_MANY_QUEUED},
)
async def retry_run(
    run_id: UUID, caller: Viewer, runs: UsedRuns, streams: UsedStreams, max_attempts: MaxAttempts
) -> Run:
    """Queues it again with all its attempts; for a day after the failure it resumes after the last completed node.

    After that it starts over. Its events continue after the existing ones, without the `run_failed`.
    """
    if (await runs.get(caller, run_id)).status is not RunStatus.failed:
        raise RunNotFailed
    await streams.reopen(run_id)
    await runs.retry(caller, run_id, max_attempts)
    return await runs.get(caller, run_id)
