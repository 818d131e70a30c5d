"""Feedback on answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.orchestrator import AnswerFeedback, FeedbackEntry, FeedbackFormat, FeedbackPut, FeedbackRating


class Feedback:
    """`client.feedback`: users rate their own answers; owners read the workspace's feedback."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def give(
        self,
        message_id: UUID,
        rating: FeedbackRating,
        *,
        reasons: Sequence[str] = (),
        comment: str | None = None,
        share_content: bool = False,
    ) -> AnswerFeedback:
        """Rates an answer, replacing an earlier rating; with `share_content` owners see question and answer."""
        body = FeedbackPut(rating=rating, reasons=list(reasons), comment=comment, share_content=share_content)
        return await self.transport.fetch("PUT", path("v1/messages", message_id, "feedback"), AnswerFeedback, body=body)

    async def withdraw(self, message_id: UUID) -> None:
        """Withdraws the feedback on an answer."""
        await self.transport.send("DELETE", path("v1/messages", message_id, "feedback"))

    def all(self, rating: FeedbackRating | None = None) -> AsyncIterator[FeedbackEntry]:
        """Lists the workspace's feedback, newest first. Raises Forbidden unless the caller is an owner."""
        return every(self.transport, "/v1/feedback", Page[FeedbackEntry], {"rating": rating and rating.value})

    @asynccontextmanager
    async def export(
        self, format: FeedbackFormat = FeedbackFormat.jsonl, rating: FeedbackRating | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens the workspace's feedback as a file: `async with client.feedback.export() as parts`."""
        wanted = {"format": format.value, "rating": rating and rating.value}
        async with self.transport.stream("/v1/feedback/export", params=wanted) as response:
            yield response.aiter_bytes()
