"""Checks every citation against the passages of this run, and emits those that hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from langgraph.runtime import Runtime

from contracts.events import CitationChecked
from orchestrator.citations.check import check
from orchestrator.citations.support import CitedSpan
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import citation_of
from orchestrator.graphs.conversation.state import Cited, State, Turn, answer_of


async def verify_citations(state: State, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Checks the whole answer, whoever wrote it; a model's markers were checked while they were streamed."""
    passages = state["passages"]
    checked = check(
        answer_of(state), [CitedSpan(**cited) for cited in state["cited"]], [passage["content"] for passage in passages]
    )
    citations = [citation_of(cast(Cited, asdict(cited)), passages[cited.passage - 1]) for cited in checked.cited]
    for citation in citations:
        runtime.context.events.emit(CitationChecked(citation=citation))
    return {
        "messages": [Turn(id=state["answer_id"], role="assistant", content=checked.content)],
        "citations": [citation.model_dump(mode="json") for citation in citations],
        "removed_citations": state["removed_citations"] + checked.removed,
    }
