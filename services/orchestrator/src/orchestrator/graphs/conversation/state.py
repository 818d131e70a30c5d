"""The conversation's state, split by concern. All of it is JSON: it is checkpointed after each node."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, TypeVar, get_type_hints

from orchestrator.graphs.stages import Failing

Value = TypeVar("Value")
Role = Literal["user", "assistant", "summary"]
Path = Literal["retrieve", "reply_to_general_input", "reply_plainly", "image_processing", "world_modifier"]


class Turn(TypedDict):
    """A message as the graph sees it; a `summary` replaces the message with its id and all earlier ones.

    `images` are the ids of the images that it shows, never their bytes.
    """

    id: str
    role: Role
    content: str
    images: NotRequired[list[str]]


class FoundChunk(TypedDict):
    """A search hit. `highlights` are (start, end, score) spans of `content`.

    `workspace_id` is set if it is not the session's workspace, `chunk_index`, `boxes` and `graph_path` if it was
    searched for, `markdown_start` and `markdown_end` if it was found in the index or by the graph.
    """

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
    workspace_id: NotRequired[str]
    chunk_index: NotRequired[int]
    boxes: NotRequired[list[dict[str, Any]]]
    markdown_start: NotRequired[int | None]
    markdown_end: NotRequired[int | None]
    graph_path: NotRequired[list[str]]


class Cited(TypedDict):
    """Marker [number] refers to characters `start` to `end` of passage `passage` (from 1)."""

    number: int
    passage: int
    start: int
    end: int


class RememberedAnswer(TypedDict):
    """Memory's answer; `documents_say` introduces what documents say, null if that is left out.

    `alone`: it says that nothing is remembered, so it is the answer only if nothing else is.
    """

    text: str
    documents_say: str | None
    alone: NotRequired[bool]


class GraphAnswer(TypedDict):
    """The graph's answer: text with markers, and their spans in the passages."""

    text: str
    cited: list[Cited]


def put_messages(present: list[Turn], new: list[Turn]) -> list[Turn]:
    """Replaces messages with known ids, so that a node may run twice, and appends others."""
    merged = {message["id"]: message for message in present}
    merged.update({message["id"]: message for message in new})
    return list(merged.values())


def append_new(present: list[Value], new: list[Value]) -> list[Value]:
    """Appends only new values: a subgraph also returns its parent's, and a node may run twice."""
    return [*present, *(one for at, one in enumerate(new) if one not in present and one not in new[:at])]


def put_entries(present: dict[str, Value], new: dict[str, Value]) -> dict[str, Value]:
    """Replaces entries with known names, and adds others."""
    return {**present, **new}


class ConversationState(TypedDict):
    """`internal_messages` is the part of the transcript for models: a summary, if there is one, then the messages up to
    the question, and the answer. The whole transcript is in PostgreSQL. `question` is the last user message,
    `answer_id` the answer's id. Messages of more than `summary_tokens` are condensed (None: never); `condensed` is the
    summary that replaces them in the next turn. `reflections` (Reflection in contracts.reflections) are derived from
    the user's words.

    `fallback`: the error handler wrote the answer. `incomplete`: the model broke off, and its partial answer stands.
    """

    internal_messages: Annotated[list[Turn], put_messages]
    question: str
    answer_id: str
    mode: Literal["model", "extractive"]
    fallback: bool
    incomplete: bool
    needs_title: bool
    title: str | None
    summary_tokens: int | None
    condensed: Turn | None
    reflections: list[dict[str, Any]]


class ArtifactInTurn(TypedDict):
    """The session's artifact as the turn found it: the text of version `index`, and its citations.

    `seen` is the text of the version that a highlight names, if that is another one.
    """

    index: int
    kind: Literal["markdown", "code", "pdf"]
    language: str | None
    title: str | None
    text: str
    citations: list[dict[str, Any]]
    seen: str | None


class Proposed(TypedDict):
    """The version that the run adds when it ends. `done` says what was changed, `cut_short` that text is missing.

    `base_index` is the version that it was made from, None for the first one.
    """

    event: Literal["create", "update", "rewrite", "patch"]
    base_index: int | None
    kind: Literal["markdown", "code"]
    language: str | None
    title: str | None
    text: str
    citations: list[dict[str, Any]]
    done: str
    cut_short: bool


class RoutingState(TypedDict):
    """`next` is the node that generate_path chose; artifact_ops follows `retrieve` if `artifact_action` is set.

    `artifact_action_params` are passed unchanged from the message to the action. The recovery message is the answer
    if the action could not be done.
    """

    next: Path | Literal["artifact_ops", "__recovery__"] | None
    artifact_action: str | None
    artifact_action_params: dict[str, Any] | None
    artifact_action_recovery_message: str | None


class ArtifactState(TypedDict):
    """`artifact` is set only if it is to be changed; `proposal` stays until the run commits it."""

    artifact: ArtifactInTurn | None
    proposal: Proposed | None


class WorldTurn(TypedDict):
    """`world_told` is the answer's text about the world state; `staged` (StagedOperations in contracts.world) stays
    until the run commits it.
    """

    world_told: str | None
    staged: dict[str, Any] | None


class RetrievalState(TypedDict):
    """The results of the subgraph `retrieve`. `search` is the outcome of the search: `off` if the message asked for
    none, null if there was nothing to search for. `structure` is the graph's answer, if it has one.

    `rag_scope` is the scope that was searched for `rag_query`; `passages` are the part of `rag_context` that is used,
    `rag_citations` the places of all chunks found. `read_elsewhere`: some passages are from other workspaces.

    `recalled_ids` are the ids of `memories`, and remain after these are dropped. `remembered` is memory's answer, if
    there is one.
    """

    document_ids: list[str] | None
    rag_enabled: bool
    rag_scope: Literal["session", "workspace", "global"] | None
    rag_query: str | None
    rag_citations: list[dict[str, Any]]
    conversation_mode: Literal["normal", "chatpdf"]
    active_pdf_document_id: str | None
    read_elsewhere: bool
    search: Literal["found", "nothing", "failed", "off"] | None
    passages: list[FoundChunk]
    memories: list[str]
    recalled_ids: list[str]
    remembered: RememberedAnswer | None
    structure: GraphAnswer | None


class CitationState(TypedDict):
    """`cited` are the citations that the answer claims; `citations` and `sentences` (Citation and SentenceCheck in
    contracts.orchestrator) are the results of the check."""

    cited: list[Cited]
    citations: list[dict[str, Any]]
    removed_citations: int
    sentences: list[dict[str, Any]]


class DebugState(TypedDict):
    """No node reads this, so that it reaches neither a prompt nor an answer.

    `considered` is the RetrievalOutcome that was reported, if there was a search. `steps_executed` describes for people
    what happened, `timings` has the milliseconds of each node. The last two are returned with `debug=true`.
    """

    node_trace: Annotated[list[str], append_new]
    issues: Annotated[list[str], append_new]
    steps_executed: Annotated[list[str], append_new]
    timings: Annotated[dict[str, float], put_entries]
    considered: dict[str, Any] | None
    rag_route_debug: dict[str, Any]
    rag_retrieval_debug: dict[str, Any]


class State(
    ConversationState, RoutingState, ArtifactState, WorldTurn, RetrievalState, CitationState, DebugState, Failing
):
    """A turn's whole state. The type of a node's parameter is the part that the node reads."""


class WrittenAnswer(TypedDict):
    """The fields needed to read the answer's text."""

    internal_messages: list[Turn]
    answer_id: str


# Fields that clean_state resets, so that the next turn sees nothing of this one. The checkpoint also shrinks.
TRANSIENT: dict[str, Any] = {
    "next": None,
    "artifact": None,
    "artifact_action": None,
    "artifact_action_params": None,
    "artifact_action_recovery_message": None,
    "world_told": None,
    "search": None,
    "rag_enabled": False,
    "rag_scope": None,
    "rag_query": None,
    "rag_citations": [],
    "conversation_mode": "normal",
    "active_pdf_document_id": None,
    "passages": [],
    "memories": [],
    "remembered": None,
    "structure": None,
    "cited": [],
    "error": None,
}


# Fields that outlive the turn: the answer, what is known about it, and what happened. All fields are in one of the two.
LASTING = (
    *get_type_hints(ConversationState),
    *get_type_hints(DebugState),
    "proposal",
    "staged",
    "document_ids",
    "read_elsewhere",
    "recalled_ids",
    "citations",
    "removed_citations",
    "sentences",
)


def answer_of(state: State | WrittenAnswer) -> str:
    """Returns the answer's text, empty before there is one."""
    return next((turn["content"] for turn in state["internal_messages"] if turn["id"] == state["answer_id"]), "")
