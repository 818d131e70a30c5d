"""Routes of sessions and messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody
from contracts.orchestrator import (
    Message,
    MessageCreate,
    Run,
    RunStatus,
    Session,
    SessionCreate,
    SessionDocument,
    SessionUpdate,
)
from contracts.registry import RETRIEVAL
from orchestrator.runs.api import Runs, Streams, event_stream
from orchestrator.sessions.attachments import MOST_DOCUMENTS, DocumentAttacher
from orchestrator.sessions.repository import AttachedDocuments, CallerSessions
from service_kit.auth import Principal, Viewer, viewer_through
from service_kit.pagination import Cursor, Limit
from service_kit.postgres import Database
from service_kit.request_headers import ExpectedVersion, IdempotencyKey

router = APIRouter(prefix="/v1/sessions", tags=["orchestrator"])
NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemBody, "description": "The caller has no such session in this workspace"}
}
STALE: dict[int | str, dict[str, Any]] = {
    412: {"model": ProblemBody, "description": "If-Match names a version that is not the current one"}
}
ATTACHING: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemBody, "description": "The caller has no such session, or the workspace no such document"},
    409: {"model": ProblemBody, "description": "The session has reached its limit of documents"},
    503: {"model": ProblemBody, "description": "It could not be checked whether the document exists"},
}


Opening = Callable[[], AbstractAsyncContextManager[CallerSessions]]
Searching = Annotated[Principal, Depends(viewer_through(RETRIEVAL))]


def opened_sessions(request: Request, caller: Viewer) -> Opening:
    """Returns what opens a transaction over the caller's sessions."""
    return _opening(request, caller)


def opened_for_search(request: Request, caller: Searching) -> Opening:
    return _opening(request, caller)


def _opening(request: Request, caller: Principal) -> Opening:
    database: Database = request.app.state.database

    @asynccontextmanager
    async def opened() -> AsyncIterator[CallerSessions]:
        async with database.workspace(caller.workspace_id) as connection:
            yield CallerSessions(connection, caller)

    return opened


def attachments(request: Request) -> DocumentAttacher:
    found: DocumentAttacher = request.app.state.attachments
    return found


Opened = Annotated[Opening, Depends(opened_sessions)]
OpenedForSearch = Annotated[Opening, Depends(opened_for_search)]
Attaching = Annotated[DocumentAttacher, Depends(attachments)]
DocumentLimit = Annotated[int, Query(ge=1, le=MOST_DOCUMENTS, description="Items on a page")]


@router.post("", status_code=status.HTTP_201_CREATED, summary="Create a session")
async def create_session(body: SessionCreate, opened: Opened, key: IdempotencyKey, response: Response) -> Session:
    """Starts a conversation that only the caller sees. Without a title it is named after its first exchange.

    The same `Idempotency-Key` returns the same session.
    """
    async with opened() as sessions:
        session = await sessions.create(body.title, key)
    response.headers["Location"] = f"/v1/sessions/{session.id}"
    return _tagged(session, response)


@router.get("", summary="List the caller's sessions")
async def list_sessions(opened: Opened, limit: Limit = 50, cursor: Cursor = None) -> Page[Session]:
    """Most recently used first."""
    async with opened() as sessions:
        return await sessions.page(limit, cursor)


@router.get("/{session_id}", summary="Read a session", responses={**NOT_FOUND})
async def get_session(session_id: UUID, opened: Opened, response: Response) -> Session:
    """The header `ETag` is the version, for `If-Match`."""
    async with opened() as sessions:
        return _tagged(await sessions.find(session_id), response)


@router.patch("/{session_id}", summary="Rename a session", responses={**NOT_FOUND, **STALE})
async def rename_session(
    session_id: UUID, body: SessionUpdate, opened: Opened, version: ExpectedVersion, response: Response
) -> Session:
    """With `If-Match`, renames it only if it still has that version. A generated title never replaces this one."""
    async with opened() as sessions:
        return _tagged(await sessions.rename(session_id, body.title, version), response)


@router.delete(
    "/{session_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a session",
    responses={**NOT_FOUND, **STALE},
)
async def delete_session(session_id: UUID, opened: Opened, version: ExpectedVersion, streams: Streams) -> None:
    """Deletes its messages and runs, too; a run in progress is cancelled."""
    async with opened() as sessions:
        run_ids = await sessions.delete(session_id, version)
    await streams.delete(run_ids)


@router.get("/{session_id}/documents", summary="List a session's documents", responses={**NOT_FOUND})
async def list_session_documents(
    session_id: UUID, opened: OpenedForSearch, limit: DocumentLimit = 100, cursor: Cursor = None
) -> Page[SessionDocument]:
    """Lists the documents in the order in which they were attached. A deleted document is detached everywhere."""
    async with opened() as sessions:
        await sessions.find(session_id)
        return await AttachedDocuments(sessions.connection, sessions.workspace_id).page(session_id, limit, cursor)


@router.put("/{session_id}/documents/{document_id}", summary="Attach a document", responses={**ATTACHING})
async def attach_document(session_id: UUID, document_id: UUID, caller: Viewer, using: Attaching) -> SessionDocument:
    """Limits the session's answers, and searches with the scope `session`, to the attached documents.

    A session without attached documents draws on the whole workspace. `document_ids` of a message limit its answer
    further. Attaching a document again changes nothing.
    """
    return await using.attach(caller, session_id, document_id)


@router.delete(
    "/{session_id}/documents/{document_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Detach a document",
    responses={**NOT_FOUND},
)
async def detach_document(session_id: UUID, document_id: UUID, opened: Opened) -> None:
    """The document itself stays. Detaching one that is not attached changes nothing."""
    async with opened() as sessions:
        await sessions.lock(session_id)
        await AttachedDocuments(sessions.connection, sessions.workspace_id).detach(session_id, document_id)


@router.get("/{session_id}/messages", summary="List a session's messages", responses={**NOT_FOUND})
async def list_messages(session_id: UUID, opened: Opened, limit: Limit = 50, cursor: Cursor = None) -> Page[Message]:
    """Oldest first. An answer carries its checked citations."""
    async with opened() as sessions:
        return await sessions.messages(session_id, limit, cursor)


@router.post(
    "/{session_id}/messages",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=Run,
    summary="Ask",
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "With Accept: text/event-stream, the run's events"},
        409: {"model": ProblemBody, "description": "The Idempotency-Key belongs to another message"},
        **NOT_FOUND,
    },
)
async def create_message(
    request: Request,
    session_id: UUID,
    body: MessageCreate,
    caller: Viewer,
    opened: Opened,
    runs: Runs,
    streams: Streams,
    key: IdempotencyKey,
    response: Response,
    accept: Annotated[str, Header()] = "*/*",
) -> Run | StreamingResponse:
    """Stores the message and queues the run that answers it; `Location` is the run.

    The answer draws on the documents attached to the session, or on the whole workspace if there are none;
    `document_ids` limit it further. With `Accept: text/event-stream` the response is the run's event stream (see
    GET /v1/runs/{id}/events). The same `Idempotency-Key` returns the same run. Messages of one session are answered one
    after the other.
    """
    streaming = "text/event-stream" in accept.lower()
    if streaming:
        streams.admit()
    async with opened() as sessions:
        run_id, created_at = await sessions.ask(session_id, body, key, request.app.state.run_max_attempts)
    run = _queued(run_id, session_id, created_at) if created_at else await runs.get(caller, run_id)
    location = {"Location": f"/v1/runs/{run.id}"}
    if streaming:
        return event_stream(streams.follow(caller, run), location)
    response.headers.update(location)
    return run


def _tagged(session: Session, response: Response) -> Session:
    response.headers["ETag"] = f'"{session.version}"'
    return session


def _queued(run_id: UUID, session_id: UUID, created_at: datetime) -> Run:
    return Run(
        id=run_id,
        session_id=session_id,
        status=RunStatus.queued,
        mode=None,
        attempts=0,
        node_trace=[],
        issues=[],
        error_type=None,
        error_message=None,
        created_at=created_at,
        started_at=None,
        finished_at=None,
    )
