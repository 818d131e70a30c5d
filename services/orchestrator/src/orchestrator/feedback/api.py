"""Routes of feedback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, status
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody
from contracts.orchestrator import AnswerFeedback, FeedbackEntry, FeedbackFormat, FeedbackPut, FeedbackRating
from orchestrator.feedback.files import FILES, FeedbackFile
from orchestrator.feedback.repository import CallerFeedback, WorkspaceFeedback
from service_kit.auth import Owner, Viewer
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.postgres import Database
from service_kit.routes import Responses, UsedDatabase

router = APIRouter(prefix="/v1", tags=["orchestrator"])
MESSAGE_FEEDBACK = "/messages/{message_id}/feedback"
EXPORTED_AT_ONCE = 500
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "The caller has no such message"}}
NOT_RATED: Responses = {
    409: {"model": ProblemBody, "description": "It is a question, or an answer still being written"}
}
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "The caller is not an owner"}}
FILE: Responses = {
    200: {
        "description": "One entry per line",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}, "text/csv": {"schema": {"type": "string"}}},
    }
}
Rated = Annotated[FeedbackRating | None, Query(description="Only entries with this rating")]


@router.put(MESSAGE_FEEDBACK, summary="Rate an answer", responses={**NOT_FOUND, **NOT_RATED})
async def put_feedback(message_id: UUID, body: FeedbackPut, caller: Viewer, database: UsedDatabase) -> AnswerFeedback:
    """Replaces the caller's earlier feedback on this answer. Owners of the workspace see it with the caller's id.

    They see question and answer only with `share_content`. The feedback is deleted with the answer.
    """
    async with database.workspace(caller.workspace_id) as connection:
        return await CallerFeedback(connection, caller).put(message_id, body)


@router.delete(
    MESSAGE_FEEDBACK,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Withdraw the rating of an answer",
    responses=NOT_FOUND,
)
async def delete_feedback(message_id: UUID, caller: Viewer, database: UsedDatabase) -> None:
    """Owners no longer see it. Withdrawing what was not given changes nothing."""
    async with database.workspace(caller.workspace_id) as connection:
        await CallerFeedback(connection, caller).delete(message_id)


@router.get("/feedback", summary="List feedback on answers", responses=FORBIDDEN)
async def list_feedback(
    caller: Owner, database: UsedDatabase, rating: Rated = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[FeedbackEntry]:
    """Requires an owner; lists the newest first. `question` and `answer` are null if their user does not share them."""
    at, before = decode_cursor(cursor)
    async with database.workspace(caller.workspace_id) as connection:
        rows = await WorkspaceFeedback(connection, caller.workspace_id).newest(rating, at, before, limit + 1)
    return page(rows, limit, lambda entry: (entry.created_at, entry.message_id))


@router.get(
    "/feedback/export",
    summary="Export feedback on answers",
    response_class=StreamingResponse,
    responses={**FORBIDDEN, **FILE},
)
async def export_feedback(
    caller: Owner,
    database: UsedDatabase,
    rating: Rated = None,
    format: Annotated[FeedbackFormat, Query(description="JSON Lines, or CSV with a header")] = FeedbackFormat.jsonl,
) -> StreamingResponse:
    """Requires an owner. Streams the same entries, all pages at once; in CSV no text can be mistaken for a formula."""
    form = FILES[format]
    headers = {"Content-Disposition": f'attachment; filename="feedback.{form.extension}"'}
    parts = _parts(database, caller.workspace_id, rating, form)
    return StreamingResponse(parts, media_type=form.media_type, headers=headers)


async def _parts(
    database: Database, workspace_id: UUID, rating: FeedbackRating | None, form: FeedbackFile
) -> AsyncIterator[str]:
    """Yields the file; holds no connection while a slow client reads."""
    yield form.head
    at, before = None, None
    while True:
        async with database.workspace(workspace_id) as connection:
            rows = await WorkspaceFeedback(connection, workspace_id).newest(rating, at, before, EXPORTED_AT_ONCE)
        yield form.part(rows)
        if len(rows) < EXPORTED_AT_ONCE:
            return
        at, before = rows[-1].created_at, rows[-1].message_id
