"""Checks every citation and sentence against the passages of this run, and emits the valid ones."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.run_events import CitationChecked, MessageCompleted
from orchestrator.citations.support import CitedSpan
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import Verified, of_cut
from orchestrator.graphs.conversation.sentence_models import verified
from orchestrator.graphs.conversation.state import Cited, FoundChunk, Turn, WrittenAnswer, answer_of


class UncheckedAnswer(WrittenAnswer):
    """What the node reads."""

    mode: Literal["model", "extractive"]
    cited: list[Cited]
    passages: list[FoundChunk]
    removed_citations: int
    incomplete: bool


async def verify_citations(state: UncheckedAnswer, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Checks the whole answer, whatever wrote it; a model's markers were already checked while it was streamed.

    Sentences that the sources contradict are rewritten once, with a chat model; otherwise they lose their markers.
    """
    cited = [CitedSpan(**one) for one in state["cited"]]
    answer, context = answer_of(state), runtime.context
    checked, issues = await verified(context, answer, cited, state["passages"], state["mode"])
    if state["incomplete"]:
        checked = of_cut(checked)
    for citation in checked.citations:
        context.events.emit(CitationChecked(citation=citation))
    context.events.emit(
        MessageCompleted(
            message_id=UUID(state["answer_id"]),
            content=checked.content,
            sentences=checked.sentences,
            incomplete=state["incomplete"],
        )
    )
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=checked.content)],
        "citations": [citation.model_dump(mode="json") for citation in checked.citations],
        "removed_citations": state["removed_citations"] + checked.removed,
        "sentences": [sentence.model_dump(mode="json") for sentence in checked.sentences],
        "issues": issues,
        "steps_executed": [_step(checked)],
    }


def _step(checked: Verified) -> str:
    found = Counter(sentence.status.value.replace("_", " ") for sentence in checked.sentences)
    sentences = ", ".join(f"{count} {status}" for status, count in found.items()) or "none"
    return f"Checked the answer: {len(checked.citations)} citations hold; sentences: {sentences}"
