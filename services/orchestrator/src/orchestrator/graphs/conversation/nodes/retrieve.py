"""Runs the retrieve subgraph, recalls memories, and reports what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langgraph.runtime import Runtime

from contracts.artifact_actions import ArtifactAction
from contracts.graph_tools import StructuralAnswer
from contracts.memory import MemoryKind, RecallRequest, RecallResponse
from contracts.orchestrator import ConsideredSource, RetrievalOutcome
from contracts.retrieval import MOST_CHARACTERS, SearchResponse
from contracts.run_events import ProviderIssue, StageOutput
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import answers_anyway, passage_of_source
from orchestrator.graphs.conversation.remembering import is_acknowledged, remembering
from orchestrator.graphs.conversation.state import Cited, FoundChunk, GraphAnswer, Turn
from orchestrator.graphs.retrieve import graph as retrieve_graph
from orchestrator.graphs.retrieve.state import RetrieveState, asking
from service_kit.problems import ServiceSilent

OF_MESSAGE = ("rag_scope", "conversation_mode", "active_pdf_document_id")
QUOTED_AT_MOST = 3
WITHOUT_DOCUMENTS = "Was asked to answer without the documents"

NO_PREFERENCES = [kind for kind in MemoryKind if kind not in (MemoryKind.preference, MemoryKind.style)]


class SearchedQuestion(TypedDict):
    """What the node reads."""

    question: str
    internal_messages: list[Turn]
    document_ids: list[str] | None
    artifact_action: str | None


async def retrieve(state: SearchedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Reports a search or a recall that fails, and the turn continues without its results.

    The subgraph runs within this node, so that it costs no checkpoints: an interrupted search is repeated.
    """
    context = runtime.context
    done, recalled = await asyncio.gather(_searched(state, context), _recall(state, context))
    found, stated = done["response"], done["stated"]
    failures = [str(failure) for failure in (found, stated, recalled) if isinstance(failure, ServiceSilent)]
    for failure in failures:
        context.events.emit(ProviderIssue(message=failure))
    passages = done["rag_context"]
    # "Write a report on …" is not a question that a passage answers: the nearest passages are its material.
    writing = state["artifact_action"] == ArtifactAction.generate_artifact
    relevant = (
        bool(passages)
        and isinstance(found, SearchResponse)
        and (found.good_match or writing or answers_anyway(state["question"], passages))
    )
    structure = None
    if isinstance(stated, StructuralAnswer):
        # The graph's citations come first, so that a chat model reads them whatever its budget.
        passages = _joined(stated, passages if relevant else [])
        structure, relevant = _structure(stated, passages), bool(passages)
    outcome = _outcome_shown(passages, relevant)
    context.events.emit(StageOutput(stage="retrieve", output=outcome))
    read = passages if relevant else []
    return {
        "search": _outcome(found, relevant, is_acknowledged(recalled, remembers=context.remembers)),
        "passages": read,
        "read_elsewhere": any("workspace_id" in passage for passage in read),
        "structure": structure,
        **remembering(recalled, remembers=context.remembers),
        "issues": [*done["issues"], *failures],
        "timings": done["timings"],
        "steps_executed": [_step(found, passages, relevant)],
        "rag_enabled": done["rag_enabled"],
        "rag_scope": done["rag_scope"],
        "rag_query": done["rag_query"],
        "rag_citations": done["rag_citations"],
        "conversation_mode": done["conversation_mode"],
        "active_pdf_document_id": done["active_pdf_document_id"],
        "considered": outcome.model_dump(mode="json"),
        "rag_retrieval_debug": {**_debug(done, recalled), "relevant": relevant},
    }


async def _searched(state: SearchedQuestion, context: ConversationContext) -> RetrieveState:
    """Runs the subgraph separately from the conversation's: it inherits neither checkpoints nor the stop request.

    A stopping process lets it end, since the conversation stops after this node.
    """
    options: Mapping[str, Any] = context.options
    given = {name: options[name] for name in OF_MESSAGE if name in options}
    question_state = asking(
        state["question"],
        state["internal_messages"][:-1],
        state["document_ids"],
        artifact_action=state["artifact_action"],
        rag_enabled=context.options.get("rag_enabled", True),
        **given,
    )
    with set_config_context(RunnableConfig()) as apart:
        running = asyncio.create_task(retrieve_graph.build().ainvoke(question_state, context=context), context=apart)
        return cast(RetrieveState, await running)


def _outcome(
    found: SearchResponse | ServiceSilent | None, relevant: bool, acknowledged: bool
) -> Literal["found", "nothing", "failed", "off"] | None:
    """Returns the outcome of the search; None for a statement that no document is about."""
    if relevant:
        return "found"
    if acknowledged:
        return None
    if found is None:
        return "off"
    return "failed" if isinstance(found, ServiceSilent) else "nothing"


def _step(found: SearchResponse | ServiceSilent | None, passages: list[FoundChunk], relevant: bool) -> str:
    if relevant:
        documents = len({passage["document_id"] for passage in passages})
        return f"Found {len(passages)} chunks in {documents} documents"
    if found is None:
        return WITHOUT_DOCUMENTS
    return "The search failed" if isinstance(found, ServiceSilent) else "Found nothing relevant"


def _debug(done: RetrieveState, recalled: RecallResponse | ServiceSilent) -> dict[str, Any]:
    """Returns debugging data of the search: names and numbers, and the query if it was rewritten."""
    found = done["response"]
    values: dict[str, Any] = {
        "path": done["path"],
        "rag_enabled": done["rag_enabled"],
        "rag_scope": done["rag_scope"],
        "conversation_mode": done["conversation_mode"],
        "active_pdf_document_id": done["active_pdf_document_id"],
        "rag_query": done["rag_query"],
        "rag_variants": done["rag_variants"],
        "rag_context": len(done["rag_context"]),
        "rag_citations": done["rag_citations"],
        "graph_answered": isinstance(done["stated"], StructuralAnswer),
        "memories": None if isinstance(recalled, ServiceSilent) else len(recalled.memories),
    }
    if not isinstance(found, SearchResponse):
        return values
    shown = found.model_dump(mode="json", include={"mode", "good_match", "match", "legs", "cached", "milliseconds"})
    return {**values, **shown, "hits": [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in found.hits]}


def _joined(stated: StructuralAnswer, found: list[FoundChunk]) -> list[FoundChunk]:
    passages = {source.chunk_id: passage_of_source(source) for source in stated.sources}
    return [*passages.values(), *(one for one in found if one["chunk_id"] not in passages)]


def _structure(stated: StructuralAnswer, passages: list[FoundChunk]) -> GraphAnswer:
    """Returns the answer with the sources that its text cites; its rows may have more sources."""
    numbers = {passage["chunk_id"]: number for number, passage in enumerate(passages, 1)}
    cited = [
        Cited(number=one.number, passage=numbers[one.chunk_id], start=one.start, end=one.end)
        for one in stated.sources
        if f"[{one.number}]" in stated.text
    ]
    return GraphAnswer(text=stated.text, cited=cited)


async def _recall(state: SearchedQuestion, context: ConversationContext) -> RecallResponse | ServiceSilent:
    """Recalls memories, and the user's profile for the prompts of a chat model.

    Without one, only a fact that is an answer by itself is used, or else what the asker said about it.
    """
    writes = context.models.of("answer") is not None
    profile_tokens = context.profile.tokens_to_ask if writes else 0
    kinds = [] if context.profile.used else NO_PREFERENCES
    try:
        recalled = await context.memory.recall(
            context.caller,
            RecallRequest(
                query=state["question"][:MOST_CHARACTERS],
                before=_question_before(state["internal_messages"])[:MOST_CHARACTERS],
                session_id=context.session_id,
                k=5 if writes else QUOTED_AT_MOST,
                kinds=kinds,
                time_zone=context.clock.timezone,
                profile_tokens=profile_tokens,
            ),
        )
    except ServiceSilent as error:
        context.profile.take(None)
        return error
    if profile_tokens:
        context.profile.take(recalled.profile)
    return recalled


def _question_before(turns: list[Turn]) -> str:
    """Returns the user's previous message, which may say what "it" means; empty without one."""
    questions = [turn["content"] for turn in turns if turn["role"] == "user"]
    return questions[-2] if len(questions) > 1 else ""


def _outcome_shown(passages: list[FoundChunk], relevant: bool) -> RetrievalOutcome:
    sources = [ConsideredSource.model_validate(passage) for passage in passages]
    return RetrievalOutcome(good_match=relevant, sources=sources)
