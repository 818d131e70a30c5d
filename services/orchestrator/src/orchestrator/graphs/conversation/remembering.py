"""Converts what memory knows for a turn into the graph's state. Does no IO."""

from __future__ import annotations

from typing import Any

from contracts.fixed_answers import DOCUMENTS_SAY
from contracts.memory import RecallResponse
from orchestrator.graphs.conversation.state import RememberedAnswer
from service_kit.problems import ServiceSilent


def is_told(recalled: RecallResponse | ServiceSilent, *, remembers: bool) -> bool:
    """Returns whether the message only states something that memory will keep, without a question."""
    return remembers and not isinstance(recalled, ServiceSilent) and recalled.told is not None


def remembering(recalled: RecallResponse | ServiceSilent, *, remembers: bool) -> dict[str, Any]:
    """Returns the recalled memories, and an answer by memory alone: a fact, or that a statement will be remembered.

    A fact about the asker is the whole answer; other facts are followed by what the documents say. A session that
    memory does not learn from is not told that it does.
    """
    if isinstance(recalled, ServiceSilent):
        return {"memories": [], "recalled_ids": [], "remembered": None}
    answer = recalled.answer or (recalled.told if remembers else None)
    return {
        "memories": [memory.content for memory in recalled.memories],
        "recalled_ids": [str(memory.id) for memory in recalled.memories],
        "remembered": answer
        and RememberedAnswer(
            text=answer.text, documents_say=None if answer.about_user else DOCUMENTS_SAY[answer.language]
        ),
    }
