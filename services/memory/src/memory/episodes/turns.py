"""Turns a finished turn into its two messages, without secrets. No I/O."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid5

from contracts.events import Event, TurnCompleted, TurnCompletedV1
from contracts.fixed_answers import says_nothing
from memory.facts.answers import has_speaker
from memory.repository import NewMessage
from memory.secrets import without_secrets

LONGEST_QUESTION = 10_000
LONGEST_ANSWER = 4_000
ASSISTANT = "assistant"


def turn_of(event: Event) -> TurnCompleted:
    """Returns the event's turn; one of the first version counts as asked when the event was written."""
    if event.type == TurnCompleted.event_type:
        return TurnCompleted.model_validate(event.data)
    older = TurnCompletedV1.model_validate(event.data)
    ids = {name: uuid5(older.run_id, name) for name in ("question_id", "answer_id")}
    return TurnCompleted(**older.model_dump(), **ids, asked_at=event.time)


def messages_of(turn: TurnCompleted) -> tuple[NewMessage, NewMessage]:
    """Returns question and answer. The answer's time is after the question's, so that their order is kept."""
    shared: dict[str, Any] = {"created_by": turn.user_id, "session_id": turn.session_id, "run_id": turn.run_id}
    question = NewMessage(
        id=turn.question_id,
        role="user",
        speaker="",
        content=_kept(turn.question, LONGEST_QUESTION),
        said_at=turn.asked_at,
        time_zone=turn.time_zone,
        **shared,
    )
    answer = NewMessage(
        id=turn.answer_id,
        role="assistant",
        speaker=ASSISTANT,
        content=_kept(turn.answer, LONGEST_ANSWER),
        says_nothing=says_nothing(turn.answer.strip()) or (not turn.document_ids and has_speaker(turn.answer)),
        said_at=turn.asked_at + timedelta(milliseconds=1),
        time_zone=turn.time_zone,
        **shared,
    )
    return question, answer


def _kept(text: str, longest: int) -> str:
    text = without_secrets(text.strip())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
