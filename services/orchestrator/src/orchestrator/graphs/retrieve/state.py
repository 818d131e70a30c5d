"""What the nodes of this graph read and write. Not checkpointed, since one node of the conversation runs all of it."""

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
    """Starts with the scope that the message asks for; `rag_scope` is None if it names none.

    `rag_query` is the query, `rag_variants` other wordings of it. `rag_context` are the chunks found, `rag_citations`
    their places. `response` and `stated` are the answers of search and graph, or why there are none; None: they were
    not asked. `path` lists the nodes that ran.
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
    """Returns the initial state of the graph. Nothing is searched unless retrieval is enabled."""
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
    return {**state, **given}  # type: ignore[typeddict-item]  # the caller's fields are its own
