"""Routes of sessions and messages."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody
from contracts.orchestrator import Message, MessageCreate, Run, Session, SessionCreate, SessionDocument, SessionUpdate
from orchestrator.runs.api import Runs, Streams, event_stream
from orchestrator.sessions.documents import MOST_DOCUMENTS, SessionDocuments
from orchestrator.sessions.store import SessionStore
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import ExpectedVersion, IdempotencyKey

router = APIRouter(prefix="/v1/sessions", tags=["orchestrator"])
NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemBody, "description": "No such session of this user in this workspace"}
}
STALE: dict[int | str, dict[str, Any]] = {
    412: {"model": ProblemBody, "description": "If-Match names another version than the current one"}
}


def session_store(request: Request) -> SessionStore:
    store: SessionStore = request.app.state.sessions
    return store


def session_documents(request: Request) -> SessionDocuments:
    documents: SessionDocuments = request.app.state.session_documents
    return documents


Sessions = Annotated[SessionStore, Depends(session_store)]
Attached = Annotated[SessionDocuments, Depends(session_documents)]
DocumentLimit = Annotated[int, Query(ge=1, le=MOST_DOCUMENTS, description="Items on a page")]
FULL: dict[int | str, dict[str, Any]] = {
    409: {"model": ProblemBody, "description": "The session has as many documents as it can have"}
}


@router.post("", status_code=status.HTTP_201_CREATED, summary="Create a session")
async def create_session(
    body: SessionCreate, caller: Viewer, sessions: Sessions, key: IdempotencyKey, response: Response
) -> Session:
    """A conversation of the caller: nobody else sees it. Without a title it is named after its first exchange.

    The same `Idempotency-Key` gives the same session.
    """
    session = await sessions.create(caller, body.title, key)
    response.headers["Location"] = f"/v1/sessions/{session.id}"
    return _tagged(session, response)


@router.get("", summary="List the caller's sessions")
async def list_sessions(caller: Viewer, sessions: Sessions, limit: Limit = 50, cursor: Cursor = None) -> Page[Session]:
    """Most recently used first."""
    return await sessions.page(caller, limit, cursor)


@router.get("/{session_id}", summary="Read a session", responses={**NOT_FOUND})
async def get_session(session_id: UUID, caller: Viewer, sessions: Sessions, response: Response) -> Session:
    """The header `ETag` is the version, for If-Match."""
    return _tagged(await sessions.get(caller, session_id), response)


@router.patch("/{session_id}", summary="Rename a session", responses={**NOT_FOUND, **STALE})
async def rename_session(
    session_id: UUID,
    body: SessionUpdate,
    caller: Viewer,
    sessions: Sessions,
    version: ExpectedVersion,
    response: Response,
) -> Session:
    """With If-Match only if the session still has that version. A generated title never replaces one given here."""
    return _tagged(await sessions.rename(caller, session_id, body.title, version), response)


@router.delete(
    "/{session_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a session",
    responses={**NOT_FOUND, **STALE},
)
async def delete_session(
    session_id: UUID, caller: Viewer, sessions: Sessions, version: ExpectedVersion, streams: Streams
) -> None:
    """Its messages and runs go with it; a run that is under way is cancelled."""
    await streams.forget(await sessions.delete(caller, session_id, version))


@router.get("/{session_id}/documents", summary="List a session's documents", responses={**NOT_FOUND})
async def list_session_documents(
    session_id: UUID, caller: Viewer, attached: Attached, limit: DocumentLimit = 100, cursor: Cursor = None
) -> Page[SessionDocument]:
    """In the order in which they were attached. Deleted documents are in no session."""
    return await attached.page(caller, session_id, limit, cursor)


@router.put("/{session_id}/documents/{document_id}", summary="Attach a document", responses={**NOT_FOUND, **FULL})
async def attach_document(session_id: UUID, document_id: UUID, caller: Viewer, attached: Attached) -> SessionDocument:
    """A search with the scope `session` finds passages of these documents alone. Attaching again changes nothing."""
    return await attached.attach(caller, session_id, document_id)


@router.delete(
    "/{session_id}/documents/{document_id}",
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Detach a document",
    responses={**NOT_FOUND},
)
async def detach_document(session_id: UUID, document_id: UUID, caller: Viewer, attached: Attached) -> None:
    """The document itself stays. Detaching one that is not attached changes nothing."""
    await attached.detach(caller, session_id, document_id)


@router.get("/{session_id}/messages", summary="List a session's messages", responses={**NOT_FOUND})
async def list_messages(
    session_id: UUID, caller: Viewer, sessions: Sessions, limit: Limit = 50, cursor: Cursor = None
) -> Page[Message]:
    """Oldest first; an answer carries its checked citations."""
    return await sessions.messages(caller, session_id, limit, cursor)


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
    session_id: UUID,
    body: MessageCreate,
    caller: Viewer,
    sessions: Sessions,
    runs: Runs,
    streams: Streams,
    key: IdempotencyKey,
    response: Response,
    accept: Annotated[str, Header()] = "*/*",
) -> Run | StreamingResponse:
    """Stores the message and queues the run that answers it; `Location` is the run.

    With `Accept: text/event-stream` the response is the run's event stream itself (see GET /v1/runs/{id}/events). The
    same `Idempotency-Key` gives the same run. Messages of one session are answered one after the other.
    """
    streaming = "text/event-stream" in accept.lower()
    if streaming:
        streams.admit()
    run_id, run = await sessions.ask(caller, session_id, body, key)
    run = run or await runs.get(caller, run_id)
    location = {"Location": f"/v1/runs/{run.id}"}
    if streaming:
        return event_stream(streams.follow(caller, run), location)
    response.headers.update(location)
    return run


def _tagged(session: Session, response: Response) -> Session:
    response.headers["ETag"] = f'"{session.version}"'
    return session
