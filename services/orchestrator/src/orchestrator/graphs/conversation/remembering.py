"""Converts what memory knows for a turn into the graph's state. Does no IO."""

from __future__ import annotations

from typing import Any

from contracts.fixed_answers import DOCUMENTS_SAY
from contracts.memory import RecallResponse
from orchestrator.graphs.conversation.state import RememberedAnswer
from service_kit.problems import ServiceSilent


def is_acknowledged(recalled: RecallResponse | ServiceSilent, *, remembers: bool) -> bool:
    """Returns whether the message only states something that memory will keep, without a question."""
    return remembers and not isinstance(recalled, ServiceSilent) and recalled.told is not None


def remembering(recalled: RecallResponse | ServiceSilent, *, remembers: bool) -> dict[str, Any]:
    """Returns the recalled memories, and an answer by memory alone: a fact, or that a statement will be remembered.

    A fact about the asker is the whole answer; other facts, and what the asker said, are followed by what the documents
    say. If memory does not learn from the session, no answer says that it does.
    """
    if isinstance(recalled, ServiceSilent):
        return {"memories": [], "recalled_ids": [], "remembered": None}
    return {
        "memories": [memory.content for memory in recalled.memories],
        "recalled_ids": [str(memory.id) for memory in recalled.memories],
        "remembered": _remembered(recalled, remembers=remembers),
    }


def _remembered(recalled: RecallResponse, *, remembers: bool) -> RememberedAnswer | None:
    if answer := recalled.answer or (recalled.told if remembers else None):
        documents_say = None if answer.about_user else DOCUMENTS_SAY[answer.language]
        return RememberedAnswer(text=answer.text, documents_say=documents_say)
    if open_question := recalled.unanswered:
        documents_say = DOCUMENTS_SAY[open_question.language]
        return RememberedAnswer(text=open_question.text, documents_say=documents_say, alone=not open_question.known)
    return None
