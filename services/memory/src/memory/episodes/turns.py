"""What a finished turn leaves: its two messages, without secrets. No IO."""

from __future__ import annotations

from datetime import timedelta

from contracts.events import TurnCompleted
from memory.repository import NewMessage
from memory.secrets import without_secrets

LONGEST_QUESTION = 10_000
LONGEST_ANSWER = 4_000
ASSISTANT = "assistant"


def messages_of(turn: TurnCompleted) -> tuple[NewMessage, NewMessage]:
    """Returns question and answer. The answer is dated after its question, so that they stand in their order."""
    shared = {"created_by": turn.user_id, "session_id": turn.session_id, "run_id": turn.run_id}
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
        said_at=turn.asked_at + timedelta(milliseconds=1),
        time_zone=turn.time_zone,
        **shared,
    )
    return question, answer


def _kept(text: str, longest: int) -> str:
    text = without_secrets(text.strip())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
