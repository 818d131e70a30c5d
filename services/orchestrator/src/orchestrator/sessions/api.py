"""Routes of sessions and messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody, Text
from contracts.orchestrator import (
    Message,
    Session,
    SessionCreate,
    SessionDocument,
    SessionHit,
    SessionReceipt,
    SessionState,
    SessionUpdate,
    Transcript,
    TranscriptFormat,
)
from contracts.registry import RETRIEVAL
from orchestrator.sessions.attachments import MOST_DOCUMENTS, DocumentAttacher
from orchestrator.sessions.deletion import SessionEraser
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import AttachedDocuments, CallerSessions
from orchestrator.sessions.search import SessionTexts
from orchestrator.sessions.transcript import FORMS
from service_kit.auth import Principal, Viewer, viewer_through
from service_kit.pagination import Cursor, Limit
from service_kit.postgres import Database
from service_kit.request_headers import STALE, ExpectedVersion, IdempotencyKey, tagged
from service_kit.routes import Responses, UsedDatabase, from_state

router = APIRouter(prefix="/v1/sessions", tags=["orchestrator"])
EXPORTED_AT_ONCE = 200
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "The caller has no such session in this workspace"}}
AWAY: Responses = {
    503: {"model": ProblemBody, "description": "The document made from its artifact could not be deleted"}
}
ATTACHING: Responses = {
    404: {"model": ProblemBody, "description": "The caller has no such session, or the workspace has no such document"},
    409: {"model": ProblemBody, "description": "The session has reached its limit of documents"},
    503: {"model": ProblemBody, "description": "Could not check whether the document exists"},
}


Opening = Callable[[], AbstractAsyncContextManager[CallerSessions]]
Searching = Annotated[Principal, Depends(viewer_through(RETRIEVAL))]


async def opened_sessions(database: UsedDatabase, caller: Viewer) -> Opening:
    """Returns a function that opens a transaction over the caller's sessions."""
    return _opening(database, caller)


async def opened_for_search(database: UsedDatabase, caller: Searching) -> Opening:
    return _opening(database, caller)


def _opening(database: Database, caller: Principal) -> Opening:

    @asynccontextmanager
    async def opened() -> AsyncIterator[CallerSessions]:
        async with database.workspace(caller.workspace_id) as connection:
            yield CallerSessions(connection, caller)

    return opened


Opened = Annotated[Opening, Depends(opened_sessions)]
OpenedForSearch = Annotated[Opening, Depends(opened_for_search)]
UsedAttacher = Annotated[DocumentAttacher, from_state("attachments")]
UsedEraser = Annotated[SessionEraser, from_state("eraser")]
DocumentLimit = Annotated[int, Query(ge=1, le=MOST_DOCUMENTS, description="Maximum number of items on a page")]


@router.post("", status_code=status.HTTP_201_CREATED, summary="Create a session")
async def create_session(body: SessionCreate, opened: Opened, key: IdempotencyKey, response: Response) -> Session:
    """Starts a conversation that only the caller sees. Without a title, one is generated from its first exchange.

    A `temporary` session is neither listed nor found by search, memory learns nothing from it, and it is erased a day
    after its last use.

    The same `Idempotency-Key` returns the same session.
    """
    async with opened() as sessions:
        session = await sessions.create(body.title, key, temporary=body.temporary)
    response.headers["Location"] = f"/v1/sessions/{session.id}"
    return tagged(session, response)


@router.get("", summary="List the caller's sessions")
async def list_sessions(
    opened: Opened,
    archived: Annotated[bool, Query(description="List archived sessions instead")] = False,
    pinned: Annotated[
        bool | None, Query(description="Only sessions that are pinned, or only those that are not")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Session]:
    """Lists pinned sessions first, then the most recently used; temporary ones are not listed."""
    async with opened() as sessions:
        return await sessions.page(limit, cursor, archived=archived, pinned=pinned)


@router.get("/search", summary="Search the caller's sessions")
async def search_sessions(
    opened: Opened,
    q: Annotated[
        Text, Query(min_length=1, max_length=1_000, description="Words, in any order; the last may be incomplete")
    ],
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Page[SessionHit]:
    """Finds titles and messages that contain all the words, newest first, including archived sessions and all branches.

    Case and accents make no difference. `"two words"` is a phrase, `-word` excludes, `or` matches either side.
    """
    async with opened() as sessions:
        return await SessionTexts(sessions.connection, sessions.caller).search(q, limit, cursor)


@router.get("/{session_id}", summary="Read a session", responses={**NOT_FOUND})
async def get_session(session_id: UUID, opened: Opened, response: Response) -> SessionState:
    """The header `ETag` is the version, for `If-Match`."""
    async with opened() as sessions:
        return tagged(await sessions.state(session_id), response)


@router.patch("/{session_id}", summary="Rename, pin or archive a session", responses={**NOT_FOUND, **STALE})
async def change_session(
    session_id: UUID, body: SessionUpdate, opened: Opened, version: ExpectedVersion, response: Response
) -> Session:
    """Changes the session; with `If-Match` only if it still has that version. A generated title never replaces one
    given by the caller.

    The list begins with pinned sessions and omits archived ones. An archived session can still be read and continued.
    """
    async with opened() as sessions:
        return tagged(await sessions.change(session_id, body, version), response)


@router.delete("/{session_id}", summary="Delete a session", responses={**NOT_FOUND, **STALE, **AWAY})
async def delete_session(
    session_id: UUID, caller: Viewer, version: ExpectedVersion, using: UsedEraser
) -> SessionReceipt:
    """Cancels its runs and deletes everything in it; returns what was deleted, and what is left.

    Memories that come only from it are deleted soon after. Event streams that could not be deleted because Redis was
    unavailable count as left; they expire by themselves.
    """
    return await using.erase(caller, session_id, version)


@router.get(
    "/{session_id}/export",
    summary="Export a session",
    response_class=StreamingResponse,
    responses={
        200: {"model": Transcript, "content": {"text/markdown": {}}, "description": "The session as a file"},
        **NOT_FOUND,
    },
)
async def export_session(
    session_id: UUID,
    opened: Opened,
    format: Annotated[TranscriptFormat, Query(description="Markdown to read, or JSON with every citation")] = (
        TranscriptFormat.markdown
    ),
) -> StreamingResponse:
    """Streams the messages from the first one to the session's head, with their citations.

    A download that breaks off is incomplete.
    """
    async with opened() as sessions:
        session = await sessions.find(session_id)
    form = FORMS[format]
    named = {"Content-Disposition": f'attachment; filename="session-{session_id}.{form.extension}"'}
    parts = form.parts(session, _all_messages(opened, session_id))
    return StreamingResponse(parts, media_type=form.media_type, headers=named)


@router.get("/{session_id}/documents", summary="List a session's documents", responses={**NOT_FOUND})
async def list_session_documents(
    session_id: UUID, opened: OpenedForSearch, limit: DocumentLimit = 100, cursor: Cursor = None
) -> Page[SessionDocument]:
    """Lists the documents in the order they were attached. A deleted document is detached everywhere."""
    async with opened() as sessions:
        await sessions.find(session_id)
        return await AttachedDocuments(sessions.connection, sessions.workspace_id).page(session_id, limit, cursor)


@router.put("/{session_id}/documents/{document_id}", summary="Attach a document", responses={**ATTACHING})
async def attach_document(session_id: UUID, document_id: UUID, caller: Viewer, using: UsedAttacher) -> SessionDocument:
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


async def _all_messages(opened: Opening, session_id: UUID) -> AsyncIterator[Message]:
    """Yields the path to the head; holds no connection while a slow client reads."""
    cursor: str | None = None
    while True:
        async with opened() as sessions:
            session = await sessions.find(session_id)
            page = await CallerMessages(sessions.connection, sessions.caller).path(session, EXPORTED_AT_ONCE, cursor)
        for message in page.items:
            yield message
        cursor = page.next_cursor
        if cursor is None:
            return
