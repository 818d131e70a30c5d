"""Feedback on answers: the caller's own, and a whole workspace's for its owners."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.orchestrator import (
    AnswerFeedback,
    FeedbackEntry,
    FeedbackPut,
    FeedbackRating,
    MessageRole,
    MessageStatus,
)
from orchestrator.errors import MessageNotFound, NotAnEndedAnswer
from service_kit.repository import CallerRepository, Repository
from service_kit.statements import Statements


class FeedbackSql(Statements, file="feedback.sql", columns=", ".join(AnswerFeedback.model_fields)):
    find_message: str
    put: str
    delete: str
    page: str


@dataclass(frozen=True)
class RatedMessage:
    """The fields of a message that are checked before it is rated."""

    role: str
    status: str


class CallerFeedback(CallerRepository):
    """The caller's feedback on answers in the caller's own sessions."""

    async def put(self, message_id: UUID, feedback: FeedbackPut) -> AnswerFeedback:
        """Replaces earlier feedback. Raises MessageNotFound; NotAnEndedAnswer for questions and drafts."""
        message = await self._find(message_id)
        if message.role != MessageRole.assistant or message.status == MessageStatus.pending:
            raise NotAnEndedAnswer
        stored = await self.one(FeedbackSql.put, AnswerFeedback, id=message_id, **feedback.model_dump())
        assert stored is not None
        return stored

    async def delete(self, message_id: UUID) -> None:
        """Deletes the feedback, if there is any. Raises MessageNotFound."""
        await self._find(message_id)
        await self.run(FeedbackSql.delete, id=message_id)

    async def _find(self, message_id: UUID) -> RatedMessage:
        message = await self.one(FeedbackSql.find_message, RatedMessage, id=message_id)
        if message is None:
            raise MessageNotFound
        return message


class WorkspaceFeedback(Repository):
    """The feedback of all users of the workspace."""

    async def newest(
        self, rating: FeedbackRating | None, at: datetime | None, before: UUID | None, limit: int
    ) -> list[FeedbackEntry]:
        """Returns the feedback before a time and message, by default the newest."""
        return await self.all(
            FeedbackSql.page, FeedbackEntry, rating=rating, before_at=at, before_id=before, limit=limit
        )
