"""Sessions, messages, runs and citations."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.artifact_actions import ArtifactAction, ArtifactTheme, MarkedSpan
from contracts.base import LineBox, Name, Request, Resource, storable
from contracts.images import MOST_IMAGES
from contracts.models import TokenUsage
from contracts.retrieval import SearchScope
from contracts.workspace_settings import RoleModels
from contracts.world import TimeZone

Content = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200_000), AfterValidator(storable)
]

Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(storable)
]

Deadline = Annotated[int, Field(ge=1, le=3_600)]


class AnswerMode(StrEnum):
    """`model`: written by the chat model from what was found. `extractive`: quoted sentences, without a model."""

    model = "model"
    extractive = "extractive"


class RunStatus(StrEnum):
    queued = "queued"
    running = "running"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"

    @property
    def ended(self) -> bool:
        return self in {RunStatus.completed, RunStatus.failed, RunStatus.cancelled}


class Citation(Resource):
    """A checked citation: `quote` is characters `start` to `end` of the chunk's content; `number` its marker, [1].

    `boxes` are the lines of a PDF or image that the quote is on, with characters of the chunk's content as well.
    `markdown_start` and `markdown_end` are where the chunk stands in the document's Markdown, in characters, if known.
    `workspace_id` names the document's workspace if it is not the session's.
    """

    number: int
    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None
    section: str | None = Field(description="The heading path, joined by ' > '.")
    page: int | None
    boxes: list[LineBox] = []
    line_start: int | None
    line_end: int | None
    markdown_start: int | None = None
    markdown_end: int | None = None
    quote: str
    start: int
    end: int
    workspace_id: UUID | None = None
    graph_path: list[str] = Field(
        default=[],
        description="If the graph led the search to the chunk: names from the question's to the chunk's, between two "
        "names the relation, if it is known.",
    )


class SentenceStatus(StrEnum):
    """What the sources of an answer say about one of its sentences.

    `verified`: they say so. `unclear`: part of it was not found there. `contradicted`: they say otherwise.
    `unsupported`: nothing retrieved supports it. `not_a_claim`: a greeting, question or heading, or a statement that
    nothing was found. `unchecked`: the run ended before it was checked.
    """

    verified = "verified"
    unclear = "unclear"
    contradicted = "contradicted"
    unsupported = "unsupported"
    not_a_claim = "not_a_claim"
    unchecked = "unchecked"


class SentenceCheck(Resource):
    """Characters `start` to `end` of an answer, and why they have their status.

    `citations` are the numbers of the sentence's markers; `attributed`: the check added or replaced them. `chunk_id` is
    the chunk that the sentence was compared with, if any. `instead_of` is the model's first wording, if the sources
    contradicted it and the sentence was rewritten from them.
    """

    start: int
    end: int
    status: SentenceStatus
    reason: str
    citations: list[int] = []
    attributed: bool = False
    chunk_id: str | None = None
    instead_of: str | None = None


class SessionCreate(Request):
    """A `temporary` session is neither listed nor found by search, memory learns nothing from it, and it is erased a
    day after its last use.
    """

    title: Name | None = None
    temporary: bool = False


class SessionUpdate(Request):
    """Only the given fields change."""

    title: Name | None = None
    pinned: bool | None = None
    archived: bool | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> SessionUpdate:
        if all(value is None for value in (self.title, self.pinned, self.archived)):
            raise ValueError("nothing to change")
        return self


class Session(Resource):
    """A conversation that only its user sees. Use `version` in If-Match when changing it.

    `head_id` is the newest message of the branch that is shown.
    """

    id: UUID
    title: str | None
    pinned: bool = False
    archived: bool = False
    temporary: bool = False
    head_id: UUID | None = None
    created_at: datetime
    updated_at: datetime
    version: int


class SessionState(Session):
    """A session with its waiting and running runs, oldest first, whose events can be followed.

    `artifact_index` is the current version of its artifact, null without one.
    """

    active_run_ids: list[UUID] = []
    artifact_index: int | None = None


class SessionReceipt(Resource):
    """What was deleted with a session, by kind, and what is left afterwards (0 proves the deletion).

    The kinds are `messages`, `runs` and their `events`, `artifact_versions`, `attachments` (images), `checkpoints`, and
    `streams` of events.
    """

    session_id: UUID
    deleted_at: datetime
    removed: dict[str, int]
    remaining: dict[str, int]


class SessionIds(Resource):
    session_ids: list[UUID] = Field(max_length=1_000)


class DeletedSessions(Resource):
    """Which of the given sessions are deleted."""

    deleted: list[UUID]


class SessionUsers(Resource):
    """The user of each given session; deleted and temporary sessions are left out."""

    users: dict[UUID, UUID]


class SessionDocument(Resource):
    """A document attached to a session; the session's answers, and searches with the scope `session`, are limited to
    these.
    """

    document_id: UUID
    attached_at: datetime


class MessageRole(StrEnum):
    user = "user"
    assistant = "assistant"


class MessageStatus(StrEnum):
    """An answer is `pending` until its run begins. `incomplete` and `cancelled` ones have the text written so far."""

    pending = "pending"
    running = "running"
    completed = "completed"
    incomplete = "incomplete"
    cancelled = "cancelled"
    failed = "failed"


class Siblings(Resource):
    """The messages with the same parent, oldest first; `ids[index]` is the message itself."""

    index: int
    count: int
    ids: list[UUID]


class FeedbackRating(StrEnum):
    up = "up"
    down = "down"


class FeedbackFormat(StrEnum):
    jsonl = "jsonl"
    csv = "csv"


class FeedbackPut(Request):
    """A user's feedback on an answer. With `share_content` the owners of the workspace see question and answer."""

    rating: FeedbackRating
    reasons: Annotated[list[Reason], Field(max_length=10)] = []
    comment: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5_000)] | None = None
    share_content: bool = False


class AnswerFeedback(Resource):
    """What the user of a session said about an answer in it."""

    rating: FeedbackRating
    reasons: list[str]
    comment: str | None
    share_content: bool
    created_at: datetime
    updated_at: datetime


class FeedbackEntry(AnswerFeedback):
    """What owners see: `question` and `answer` only if their user shares them."""

    message_id: UUID
    user_id: UUID
    mode: AnswerMode | None
    question: str | None
    answer: str | None


class ConsideredSource(Resource):
    """A passage that a search found for a question, whether or not the answer cites it. `score` is the search's."""

    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None = None
    section: str | None = None
    page: int | None = None
    score: float


class RetrievalOutcome(Resource):
    """What the search of an answer found. `good_match` is false if none of it was likely to answer the question, and
    so none of it was used.
    """

    good_match: bool
    sources: list[ConsideredSource]


class Message(Resource):
    """A question or an answer. An answer follows its question, and exists as soon as its run is queued.

    `parent_id` is the message before it; `siblings` is only set in lists. `removed_citations` counts the citations of
    the answer that failed the check, `sentences` has its sentences. `issues`, `steps_executed` and `timings` are those
    of the answer's run, `usage` is its model usage, `feedback` what its user said about it. `artifact_index` is the
    version that it made of the session's artifact. `attachment_ids` are the images that a question shows; deleted ones
    are still listed.

    `document_ids` are those to which a question limited its answer; null is no limit. `sources` are the passages that
    were found for an answer; `good_match` is false if none of them matched well, null if nothing is known about it.
    """

    id: UUID
    session_id: UUID
    parent_id: UUID | None = None
    siblings: Siblings | None = None
    run_id: UUID | None
    role: MessageRole
    status: MessageStatus = MessageStatus.completed
    content: str
    attachment_ids: list[UUID] = []
    document_ids: list[UUID] | None = None
    good_match: bool | None = None
    sources: list[ConsideredSource] = []
    citations: list[Citation] = []
    removed_citations: int = 0
    sentences: list[SentenceCheck] = []
    issues: list[str] = []
    steps_executed: list[str] = []
    timings: dict[str, float] = {}
    mode: AnswerMode | None = None
    usage: TokenUsage | None = None
    feedback: AnswerFeedback | None = None
    artifact_index: int | None = None
    created_at: datetime


class SessionHit(Resource):
    """A title or a message that contains the words of a search. `message_id` and `role` are null for a title."""

    session_id: UUID
    title: str | None
    archived: bool
    message_id: UUID | None
    role: MessageRole | None
    snippet: str = Field(description="About 200 characters of the text, starting shortly before the match")
    written_at: datetime


class TranscriptFormat(StrEnum):
    markdown = "markdown"
    json = "json"


class Transcript(Resource):
    """A session with the messages from the first one to its head."""

    session: Session
    messages: list[Message]


class OnBusy(StrEnum):
    """What happens to runs of the session that are waiting or in progress.

    `enqueue`: they continue, and the new one waits for the answer before it. `reject`: the new one is rejected.
    `interrupt`: they are cancelled.
    """

    enqueue = "enqueue"
    reject = "reject"
    interrupt = "interrupt"


class MessageRegenerate(Request):
    """The new answer may draw on the same documents as the old one, unless `document_ids` names others.

    It is written by the same `models`, unless others are named.
    """

    document_ids: Annotated[list[UUID], Field(max_length=1_000)] | None = None
    models: RoleModels | None = None
    deadline_seconds: Deadline = 600
    on_busy: OnBusy = OnBusy.enqueue


class ConversationMode(StrEnum):
    """`chatpdf`: the answer draws only on the documents of the session, or on the one that is open."""

    normal = "normal"
    chatpdf = "chatpdf"


class MessageCreate(Request):
    """`document_ids` limits what the answer may draw on, within the documents attached to the session if any are.

    The first 10,000 characters of `content` are searched for. The message follows `parent_id`: by default the session's
    head; null starts a new branch from the beginning. A message with the same parent as another one is an edit of it.
    `deadline_seconds` after its run started, or restarted in another process, what has been written becomes the answer,
    with the status `incomplete`.

    `timezone` (IANA name) determines what "today" means. At most one of `highlight`, `artifact_action`, `theme` and
    `quick_action` says what the run does; without one the wording decides. `highlight` is the only text of the artifact
    to change, `theme` is how to rewrite the whole, `quick_action` is the one whose prompt to follow.

    If `rag_enabled` is false, no document is searched. `rag_scope` says where to search: `session` the documents
    attached to the session, `workspace` the whole workspace, `global` every workspace that the caller may read. By
    default the documents attached to the session are searched, or the workspace if there are none. `conversation_mode`
    chatpdf searches the session's documents, or only `active_pdf_document_id`. `rewrite_query` lets a chat model word
    the query from the conversation; the default is the deployment's setting.

    `attachment_ids` are images of the session that the message shows, including ones that earlier messages showed. The
    model of the role `vision` then answers from the images and the text, without a search.

    `models` write this answer, in order of preference, instead of the workspace's for the role `answer`.
    """

    content: Content
    parent_id: UUID | None = None
    attachment_ids: Annotated[list[UUID], Field(max_length=MOST_IMAGES)] = []
    document_ids: Annotated[list[UUID], Field(max_length=1_000)] | None = None
    deadline_seconds: Deadline = 600
    on_busy: OnBusy = OnBusy.enqueue
    timezone: TimeZone = "UTC"
    highlight: MarkedSpan | None = None
    artifact_action: ArtifactAction | None = None
    theme: ArtifactTheme | None = None
    quick_action: UUID | None = None
    rag_enabled: bool = True
    rag_scope: SearchScope | None = None
    conversation_mode: ConversationMode = ConversationMode.normal
    active_pdf_document_id: UUID | None = None
    rewrite_query: bool | None = None
    models: RoleModels | None = None

    @model_validator(mode="after")
    def _searches_one_place(self) -> MessageCreate:
        local = self.conversation_mode is ConversationMode.chatpdf
        if self.active_pdf_document_id is not None and not local:
            raise ValueError("takes active_pdf_document_id with the conversation_mode chatpdf alone")
        if local and self.rag_scope not in (None, SearchScope.session):
            raise ValueError("takes no other rag_scope than session with the conversation_mode chatpdf")
        return self

    @model_validator(mode="after")
    def _says_one_thing(self) -> MessageCreate:
        choices = [self.highlight, self.artifact_action, self.theme, self.quick_action]
        if sum(one is not None for one in choices) > 1:
            raise ValueError("takes one of highlight, artifact_action, theme and quick_action")
        if self.attachment_ids and any(one is not None for one in choices):
            raise ValueError("takes no attachment_ids with highlight, artifact_action, theme or quick_action")
        return self


class HeadUpdate(Request):
    """The new head; with `newest`, the end of the branch that follows the newest message at each step from there."""

    message_id: UUID
    newest: bool = False


class GraphDrawing(Resource):
    """A compiled graph as a Mermaid diagram."""

    name: str
    mermaid: str


class Run(Resource):
    """Writes the message `answer_id` in answer to `question_id`; `answer` is that message once it has text.

    `node_trace` lists the graph's nodes in the order in which they ended, `steps_executed` what they did, in words,
    `timings` how many milliseconds they took, `issues` the problems along the way. `debug` is present on request:
    `rag_route_debug` shows how the run was routed, `rag_retrieval_debug` how the search went.

    `usage` is its model usage so far.

    `error_type` of a failed run: `internal-error`, `attempts-exhausted` (every process that worked on it died),
    `routing-error`, `artifact-ops-error` (the request refers to something the artifact does not have, or the artifact
    is in the wrong state), `answer-missing`, `deadline-passed` or `budget-exceeded`.
    """

    id: UUID
    session_id: UUID
    question_id: UUID | None = None
    answer_id: UUID | None = None
    status: RunStatus
    mode: AnswerMode | None
    attempts: int
    node_trace: list[str]
    issues: list[str]
    steps_executed: list[str] = []
    timings: dict[str, float] = {}
    error_type: str | None
    error_message: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    answer: Message | None = None
    usage: TokenUsage | None = None
    debug: dict[str, Any] | None = None


class RunUsage(Resource):
    """What owners see of any user's run: nothing of its conversation. For `error_type` see Run."""

    id: UUID
    user_id: UUID
    status: RunStatus
    mode: AnswerMode | None
    attempts: int
    error_type: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    usage: TokenUsage | None = None
