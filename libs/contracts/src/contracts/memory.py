"""Long-term memories: what was said, what follows from it, and what users store themselves."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from contracts.base import Name, Question, Request, Resource, Text


class MemoryKind(StrEnum):
    episode = "episode"  # a message
    note = "note"  # what a user stored
    fact = "fact"
    preference = "preference"  # what a user likes and dislikes
    style = "style"  # how a user wants to be answered


class MemoryScope(StrEnum):
    """Where a memory applies: always, in its session, or in everything about the workspace."""

    user = "user"
    session = "session"
    workspace = "workspace"


AnswerLanguage = Literal["en", "de"]
"""The languages of answers that are given without a chat model."""
Content = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]


class MemoryCreate(Request):
    content: Content


class MemoryEdit(Request):
    """The new text of a note or a fact, and whether the memory is pinned, which protects it from the workspace's
    retention.
    """

    content: Content | None = None
    pinned: bool | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> MemoryEdit:
        if self.content is None and self.pinned is None:
            raise ValueError("name content, pinned, or both")
        return self


class Said(Resource):
    """A message's position in its session, and who said it: the user, the assistant, or someone else by name.

    The role `turn` marks question and answer in one text, as early versions stored them.
    """

    position: int
    speaker: str
    role: Literal["user", "assistant", "speaker", "turn"]
    time_zone: str


class FactState(Resource):
    """A statement that holds from `valid_from` to before `valid_to` (null: until further notice).

    `phrase` is how its time was worded. At `expired_at` the service learned otherwise; `supersedes` names the fact that
    this one replaced, `conflicts_with` a fact that contradicts it without being replaced. A fact that is not `approved`
    awaits review and is not recalled. `message_ids` are the messages that state it.
    """

    subject: str
    predicate: str
    object: str
    phrase: str | None
    valid_from: datetime
    valid_to: datetime | None
    expired_at: datetime | None
    supersedes: UUID | None
    conflicts_with: UUID | None
    approved: bool
    message_ids: list[UUID]


class Memory(Resource):
    """`document_ids` are the documents it derives from; it is deleted with the last of them.

    `said_at` is when it was said, `created_at` when it was stored. Messages have `said`; facts, preferences and
    styles have `fact`.
    """

    id: UUID
    kind: MemoryKind
    content: str
    scope: MemoryScope
    session_id: UUID | None
    document_ids: list[UUID]
    created_by: UUID
    created_at: datetime
    said_at: datetime
    said: Said | None
    fact: FactState | None
    pinned: bool


class RecallRequest(Request):
    """`as_of`: the facts that held then (without it: those that hold now). `token_budget`: messages next to those found
    are added as context while they fit (four bytes count as a token). `time_zone` (IANA) determines what "today" is.
    `before` is what was said before the query in the session `session_id`; both tell what "it" or a correction means.
    With `profile_tokens`, the response has what is known about the caller, within that budget.
    """

    query: Question
    before: Annotated[Text, StringConstraints(max_length=10_000)] = ""
    k: Annotated[int, Field(ge=1, le=50)] = 5
    kinds: Annotated[list[MemoryKind], Field(max_length=5)] = []
    scope: MemoryScope | None = None
    session_id: UUID | None = None
    as_of: AwareDatetime | None = None
    token_budget: Annotated[int, Field(ge=0, le=100_000)] = 0
    profile_tokens: Annotated[int, Field(ge=0, le=10_000)] = 0
    time_zone: Annotated[Name, StringConstraints(max_length=64)] = "UTC"
    explain: bool = False


class ContextMessage(Resource):
    """A message next to one that was found."""

    id: UUID
    position: int
    speaker: str
    content: str


class RecalledMemory(Memory):
    """`score` is comparable between questions. `duplicates` counts the memories folded into it because they say the
    same.

    `superseded`: it states a fact that no longer holds. `features` are the components of the score, with `explain`.
    """

    score: float
    duplicates: int = 0
    superseded: bool = False
    context: list[ContextMessage] = []
    features: dict[str, float] | None = None


class RecalledAnswer(Resource):
    """An answer by facts, first that of `memory_id`; `about_user`: the question was about the person who asks."""

    text: str
    memory_id: UUID
    about_user: bool
    language: AnswerLanguage = "en"


class ToldStatement(Resource):
    """Memory's reply to a message that states something to keep, asks to forget something, or asks in vain for all that
    is known of the person.

    `about_user`: it is about the person who says it.
    """

    text: str
    about_user: bool
    language: AnswerLanguage = "en"


class UnansweredQuestion(Resource):
    """The reply to a question that no fact answers.

    `known`: it quotes what the person who asks said about it; otherwise the question is about that person, and nothing
    is remembered.
    """

    text: str
    known: bool
    language: AnswerLanguage = "en"


class MemoryProfile(Resource):
    """What is known about the user, for a prompt: how to answer, and who they are, newest first, within the budget."""

    style: list[str]
    facts: list[str]


class RecallResponse(Resource):
    """Best first; empty if nothing is relevant. `answer` is set if a single fact answers, `told` if the query only
    states something to keep, `unanswered` if it asks about the caller and no fact answers.

    `mode` is `words` if meanings could not be compared because the embedding model is unavailable; `unembedded` counts
    the caller's memories that only lexical search can find until they are embedded. `profile` is null if it was not
    asked for.
    """

    memories: list[RecalledMemory]
    mode: Literal["full", "words"] = "full"
    unembedded: int = 0
    answer: RecalledAnswer | None = None
    told: ToldStatement | None = None
    unanswered: UnansweredQuestion | None = None
    profile: MemoryProfile | None = None


class ImportedMessage(Request):
    """`speaker` is empty for the user. `at` without an offset is in the request's `time_zone`."""

    id: Annotated[Name, StringConstraints(max_length=200)]
    role: Literal["user", "assistant", "speaker"]
    speaker: Annotated[Text, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    content: Content
    at: datetime


class ImportedConversation(Request):
    id: Annotated[Name, StringConstraints(max_length=200)]
    messages: Annotated[list[ImportedMessage], Field(min_length=1, max_length=200)]


class ImportRequest(Request):
    """At most 200 messages of a conversation at a time, 1,000 in all, with the ids of the source.

    What was already imported is left as it is, so an interrupted import can simply be sent again.
    """

    source: Name
    time_zone: Annotated[Name, StringConstraints(max_length=64)] = "UTC"
    conversations: Annotated[list[ImportedConversation], Field(min_length=1, max_length=5)]


class ImportResponse(Resource):
    """Counts of what was added, what already existed, and facts learned; `message_ids` by the source's ids."""

    added: int
    known: int
    facts: int
    message_ids: dict[str, UUID]


class MemorySettings(Request):
    """Whether facts are kept from what is said in the workspace: at once, after a review, or not at all.

    What was said and stored is forgotten after `retention_days`, unless it is pinned; without a value it is kept.
    """

    writing: Literal["on", "review", "off"] = "on"
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None


class ForgetRequest(Request):
    """What to forget, named in exactly one way: what mentions a text (`about`, matched from the start of a word,
    ignoring case), what answers a question (`query`) and has its names and words, what was said in a session, or
    memories by their ids. With `preview` the response shows it, and nothing is forgotten.
    """

    about: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=2, max_length=200)] | None = None
    query: Question | None = None
    session_id: UUID | None = None
    ids: Annotated[list[UUID], Field(max_length=1_000)] = []
    preview: bool = False

    @model_validator(mode="after")
    def _names_one(self) -> ForgetRequest:
        named = [self.about is not None, self.query is not None, self.session_id is not None, bool(self.ids)]
        if sum(named) != 1:
            raise ValueError("name one of about, query, session_id and ids")
        return self


class TakenMemory(Memory):
    """A memory to forget. `why`: it mentions the text, is a fact that answers the question, has the question's `words`,
    was said in the session, was named by its id, or states, repeats or follows from another one.
    """

    why: Literal["mentions", "answers", "words", "session", "id", "along"]
    words: list[str] = []


class StandingTranscripts(Resource):
    """Forgotten messages that are still in transcripts: delete the sessions to remove them."""

    messages: int
    sessions: list[UUID]


class ForgetResponse(Resource):
    """`removed` counts the rows that were (or in a preview would be) removed, by table, vectors and postings included.

    `memories` are the newest ones found by a preview. `remaining` counts what is left, by table; `transcripts` is about
    the conversations, which memory does not hold.
    """

    preview: bool
    memories: list[TakenMemory]
    removed: dict[str, int]
    remaining: dict[str, int]
    transcripts: StandingTranscripts
