"""Searches the documents, and asks the graph and the memory."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.artifact_actions import ArtifactAction
from contracts.events import ProviderIssue, StageOutput
from contracts.graph_tools import AnswerQuestion, StructuralAnswer
from contracts.memory import MemoryKind, RecallRequest, RecallResponse
from contracts.retrieval import MOST_CHARACTERS, SearchFilters, SearchRequest, SearchResponse
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import passage_of, passage_of_source
from orchestrator.graphs.conversation.remembering import is_told, remembering
from orchestrator.graphs.conversation.state import Cited, FoundChunk, GraphAnswer
from service_kit.problems import ServiceSilent

LONGEST_STRUCTURAL = 500
"""Characters of a question that the graph reads."""

NO_PREFERENCES = [kind for kind in MemoryKind if kind not in (MemoryKind.preference, MemoryKind.style)]


class SearchedQuestion(TypedDict):
    """What the node reads."""

    question: str
    document_ids: list[str] | None
    artifact_action: str | None


async def retrieve(state: SearchedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Reports a failed search, and the turn goes on without sources; likewise without memories."""
    context = runtime.context
    found, stated, recalled, unknown = await asyncio.gather(
        _search(state, context), _stated(state, context), _recall(state, context), _ask_profile(context)
    )
    failures = [failure for failure in (found, stated, recalled) if isinstance(failure, ServiceSilent)]
    for failure in failures:
        context.events.emit(ProviderIssue(message=str(failure)))
    passages = [] if isinstance(found, ServiceSilent) else [passage_of(hit) for hit in found.hits]
    # "Write a report on …" is no question that a passage could answer: what is nearest is what there is to write from.
    writing = state["artifact_action"] == ArtifactAction.generate_artifact
    relevant = bool(passages) and not isinstance(found, ServiceSilent) and (found.good_match or writing)
    structure = None
    if isinstance(stated, StructuralAnswer):
        # What the graph cites comes first, so that a chat model reads it whatever its budget.
        passages = _joined(stated, passages if relevant else [])
        structure, relevant = _structure(stated, passages), bool(passages)
    context.events.emit(StageOutput(stage="retrieve", output=_sources(passages, relevant)))
    return {
        "search": _outcome(found, relevant, is_told(recalled, remembers=context.remembers)),
        "passages": passages if relevant else [],
        "structure": structure,
        **remembering(recalled, relevant=relevant, remembers=context.remembers),
        "issues": [*(str(failure) for failure in failures), *unknown],
        "steps_executed": [_step(found, passages, relevant)],
        "rag_retrieval_debug": _debug(found, isinstance(stated, StructuralAnswer), recalled),
    }


def _outcome(
    found: SearchResponse | ServiceSilent, relevant: bool, told: bool
) -> Literal["found", "nothing", "failed"] | None:
    """Returns how the search went; None for a statement that no document is about: nobody asked for any."""
    if relevant:
        return "found"
    if told:
        return None
    return "failed" if isinstance(found, ServiceSilent) else "nothing"


def _step(found: SearchResponse | ServiceSilent, passages: list[FoundChunk], relevant: bool) -> str:
    if relevant:
        documents = len({passage["document_id"] for passage in passages})
        return f"Found {len(passages)} chunks in {documents} documents"
    return "The search failed" if isinstance(found, ServiceSilent) else "Found nothing relevant"


def _debug(
    found: SearchResponse | ServiceSilent, is_structural: bool, recalled: RecallResponse | ServiceSilent
) -> dict[str, Any]:
    """Returns how the search went: names and numbers, nobody's words."""
    told: dict[str, Any] = {
        "graph_answered": is_structural,
        "memories": None if isinstance(recalled, ServiceSilent) else len(recalled.memories),
    }
    if isinstance(found, ServiceSilent):
        return told
    shown = found.model_dump(mode="json", include={"mode", "good_match", "match", "legs", "cached", "milliseconds"})
    return {**told, **shown, "hits": [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in found.hits]}


async def _search(state: SearchedQuestion, context: ConversationContext) -> SearchResponse | ServiceSilent:
    ids = state["document_ids"]
    limits = SearchFilters.model_validate(context.options.get("filters", {}))
    request = SearchRequest(
        query=state["question"][:MOST_CHARACTERS],
        k=context.limits.search_k,
        document_ids=None if ids is None else [UUID(one) for one in ids],
        source_ids=limits.source_ids,
        tags=limits.tags,
        # Only quotations need them, and they cost time before the first word.
        highlight=context.models.of("answer") is None,
    )
    try:
        return await context.retrieval.search(context.caller, request)
    except ServiceSilent as error:
        return error


async def _stated(state: SearchedQuestion, context: ConversationContext) -> StructuralAnswer | ServiceSilent | None:
    """Asks the graph, unless the answer shall come from some documents only."""
    limited = state["document_ids"] is not None or "filters" in context.options
    if limited or len(state["question"]) > LONGEST_STRUCTURAL:
        return None
    try:
        return await context.graph_tools.answer(context.caller, AnswerQuestion(question=state["question"]))
    except ServiceSilent as error:
        return error


def _joined(stated: StructuralAnswer, found: list[FoundChunk]) -> list[FoundChunk]:
    passages = {source.chunk_id: passage_of_source(source) for source in stated.sources}
    return [*passages.values(), *(one for one in found if one["chunk_id"] not in passages)]


def _structure(stated: StructuralAnswer, passages: list[FoundChunk]) -> GraphAnswer:
    numbers = {passage["chunk_id"]: number for number, passage in enumerate(passages, 1)}
    cited = [
        Cited(number=one.number, passage=numbers[one.chunk_id], start=one.start, end=one.end) for one in stated.sources
    ]
    return GraphAnswer(text=stated.text, cited=cited)


async def _recall(state: SearchedQuestion, context: ConversationContext) -> RecallResponse | ServiceSilent:
    """Recalls memories; without a chat model only a fact that answers by itself is of use."""
    few = 1 if context.models.of("answer") is None else 5
    kinds = [] if context.profile.used else NO_PREFERENCES
    try:
        return await context.memory.recall(
            context.caller, RecallRequest(query=state["question"][:MOST_CHARACTERS], k=few, kinds=kinds)
        )
    except ServiceSilent as error:
        return error


async def _ask_profile(context: ConversationContext) -> list[str]:
    """Asks for what the prompts say of the user, beside the search; returns the issue if there is one."""
    return [] if context.models.of("answer") is None else await context.profile.ask()


def _sources(passages: list[FoundChunk], relevant: bool) -> dict[str, Any]:
    shown = ("chunk_id", "document_id", "document_name", "section", "page", "score")
    sources = [{name: value for name, value in passage.items() if name in shown} for passage in passages]
    return {"good_match": relevant, "sources": sources}
