"""The conversation's state, split by concern. All of it is JSON: it is checkpointed after each node."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, Literal, TypedDict

from orchestrator.graphs.stages import Failing


class Turn(TypedDict):
    """A message as the graph sees it."""

    id: str
    role: Literal["user", "assistant"]
    content: str


class FoundChunk(TypedDict):
    """A search hit. `highlights` are (start, end, score) spans of `content`."""

    chunk_id: str
    document_id: str
    document_name: str
    document_title: str | None
    section: str | None
    page: int | None
    line_start: int | None
    line_end: int | None
    score: float
    content: str
    highlights: list[tuple[int, int, float]]


class Cited(TypedDict):
    """Marker [number] stands for characters `start` to `end` of passage `passage` (from 1)."""

    number: int
    passage: int
    start: int
    end: int


class GraphAnswer(TypedDict):
    """What the graph answers: text with markers, and what they stand for in the passages."""

    text: str
    cited: list[Cited]


def put_messages(present: list[Turn], new: list[Turn]) -> list[Turn]:
    """A message with a known id takes the other's place, so that a node may run twice; others are appended."""
    merged = {message["id"]: message for message in present}
    merged.update({message["id"]: message for message in new})
    return list(merged.values())


class ConversationState(TypedDict):
    """The transcript up to this turn's answer. `question` is the last user message, `answer_id` the answer's id.

    `fallback`: the error handler wrote the answer.
    """

    messages: Annotated[list[Turn], put_messages]
    question: str
    answer_id: str
    mode: Literal["model", "extractive"]
    fallback: bool
    needs_title: bool
    title: str | None


class RoutingState(TypedDict):
    """`next` is where generate_path sends the turn."""

    next: Literal["retrieve", "reply_to_general_input"] | None


class RetrievalState(TypedDict):
    """`search` says how the search went: null where none was made. `structure` is the graph's answer, if it has one."""

    document_ids: list[str] | None
    search: Literal["found", "nothing", "failed"] | None
    passages: list[FoundChunk]
    memories: list[str]
    structure: GraphAnswer | None


class CitationState(TypedDict):
    """`cited` is what the answer claims; `citations` and `sentences` (Citation and SentenceCheck in
    contracts.orchestrator) are what the check made of it."""

    cited: list[Cited]
    citations: list[dict[str, Any]]
    removed_citations: int
    sentences: list[dict[str, Any]]


class DebugState(TypedDict):
    """Never part of a prompt."""

    node_trace: Annotated[list[str], add]
    issues: Annotated[list[str], add]


class State(ConversationState, RoutingState, RetrievalState, CitationState, DebugState, Failing):
    """A turn's whole state."""


# What clean_state resets: nothing of one turn is seen by what comes after it. The checkpoint shrinks, too.
TRANSIENT: dict[str, Any] = {
    "next": None,
    "search": None,
    "passages": [],
    "memories": [],
    "structure": None,
    "cited": [],
    "error": None,
}


def answer_of(state: State) -> str:
    """The answer's text, empty before there is one."""
    return next((turn["content"] for turn in state["messages"] if turn["id"] == state["answer_id"]), "")
