"""What the nodes of this graph read and write. It is not checkpointed: the conversation's one node runs all of it."""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, TypedDict

from contracts.graph_tools import StructuralAnswer
from contracts.retrieval import SearchResponse
from orchestrator.graphs.conversation.state import FoundChunk, Turn
from service_kit.problems import ServiceSilent

Scope = Literal["session", "workspace", "global"]
Mode = Literal["normal", "chatpdf"]


class RetrieveState(TypedDict):
    """Begins with what the message says of where is searched; `rag_scope` None: it says nothing.

    `rag_query` is what is searched for, with `rag_variants`, other wordings of it. `rag_context` are the chunks found,
    `rag_citations` their places. `response` and `stated` are what search and graph answered, or why they did not; None:
    they were not asked. `path` lists the nodes that ran.
    """

    question: str
    earlier: list[Turn]
    document_ids: list[str] | None
    artifact_action: str | None
    rag_enabled: bool
    rag_scope: Scope | None
    rag_query: str | None
    rag_variants: list[str]
    rag_context: list[FoundChunk]
    rag_citations: list[dict[str, Any]]
    conversation_mode: Mode
    active_pdf_document_id: str | None
    response: SearchResponse | ServiceSilent | None
    stated: StructuralAnswer | ServiceSilent | None
    path: Annotated[list[str], operator.add]
    issues: Annotated[list[str], operator.add]
    timings: dict[str, float]


class SearchedQuery(TypedDict):
    """What both searches read."""

    rag_query: str | None
    rag_variants: list[str]
    rag_scope: Scope | None
    document_ids: list[str] | None


def asking(question: str, earlier: list[Turn], document_ids: list[str] | None = None, **given: Any) -> RetrieveState:
    """Returns the state that the graph begins with. Nobody is asked unless it is said that retrieval is enabled."""
    state = RetrieveState(
        question=question,
        earlier=earlier,
        document_ids=document_ids,
        artifact_action=None,
        rag_enabled=False,
        rag_scope=None,
        rag_query=None,
        rag_variants=[],
        rag_context=[],
        rag_citations=[],
        conversation_mode="normal",
        active_pdf_document_id=None,
        response=None,
        stated=None,
        path=[],
        issues=[],
        timings={},
    )
    return {**state, **given}  # type: ignore[typeddict-item]
