"""The nodes' dependencies, which are never part of the state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Literal, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from inference.chat import ImagePart
from inference.entailment import EntailmentModel
from inference.prompts import Prompt, load_prompts
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.graphs.artifact_ops.prompting import ArtifactPrompts
from orchestrator.graphs.conversation.multilingual import MultilingualEncoder
from orchestrator.graphs.conversation.state import ArtifactInTurn, FoundChunk
from orchestrator.graphs.conversation.user_profile import UserProfile
from orchestrator.models.run_models import RunModels
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import RunOptions
from orchestrator.services import GraphService, IngestionService, MemoryService, RetrievalService
from service_kit.auth import Principal

Routing = Literal["rules", "auto", "model"]
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SITUATIONS = ("courtesy", "found", "nothing", "seen", "failed", "off")
REWRITE_QUERY = "rewrite_query.md"
TOKENS: Mapping[str, tuple[str, ...]] = {
    "reply_to_general_input.md": ("now", "situation", "artifact", "passages", "profile", "memories", "earlier"),
    "artifact_in_view.md": ("title", "text"),
    "generate_path.md": ("routes", "artifact", "message"),
    "world_modifier.md": ("message",),
    "instructions.md": ("instructions",),
    "image_processing.md": ("now",),
    "images_in_view.md": (),
    "generate_title.md": ("question", "answer"),
    "verify_citations.md": ("sentences",),
    "summarizer.md": ("earlier", "messages"),
    "reflect.md": ("message", "choices", "selected", "edits", "profile"),
    **{f"situations/{name}.md": () for name in SITUATIONS},
}


@dataclass(frozen=True)
class Prompts:
    """The prompts, loaded at start-up, so that a wrong token does not fail in a user's turn."""

    reply_to_general_input: Prompt
    artifact_in_view: Prompt
    generate_path: Prompt
    world_modifier: Prompt
    instructions: Prompt
    generate_title: Prompt
    summarizer: Prompt
    reflect: Prompt
    verify_citations: Prompt
    image_processing: Prompt
    images_in_view: Prompt
    rewrite_query: Prompt
    situations: Mapping[str, str]
    package: ClassVar[str] = "orchestrator.graphs.conversation.prompts"
    of_retrieval: ClassVar[str] = "orchestrator.graphs.retrieve.prompts"

    @classmethod
    def load(cls) -> Prompts:
        """Raises PromptInvalid."""
        loaded = load_prompts(cls.package, TOKENS)
        return cls(
            loaded["reply_to_general_input.md"],
            loaded["artifact_in_view.md"],
            loaded["generate_path.md"],
            loaded["world_modifier.md"],
            loaded["instructions.md"],
            loaded["generate_title.md"],
            loaded["summarizer.md"],
            loaded["reflect.md"],
            loaded["verify_citations.md"],
            loaded["image_processing.md"],
            loaded["images_in_view.md"],
            load_prompts(cls.of_retrieval, {REWRITE_QUERY: ("earlier", "message")})[REWRITE_QUERY],
            {name: loaded[f"situations/{name}.md"].render() for name in SITUATIONS},
        )


@dataclass(frozen=True)
class TurnBudgets:
    """`search_k` passages; budgets in estimated tokens. Above `summary_tokens`, older messages are condensed.

    `entailment_seconds` is how long the check of an answer waits for the entailment model, `document_wait_seconds` how
    long a search waits for documents being processed. `rewrite_query`: a model writes the query, unless the message
    says otherwise.
    """

    search_k: int
    passage_tokens: int
    history_tokens: int
    summary_tokens: int
    entailment_seconds: float = 10.0
    document_wait_seconds: float = 20.0
    rewrite_query: bool = False

    def with_passages(self, count: int | None) -> TurnBudgets:
        """Returns the same budgets with `count` passages, if given."""
        return self if count is None else replace(self, search_k=count)


@dataclass(frozen=True)
class TurnClock:
    """The time of a turn: its question was asked at `now_iso`, which prompts show in `timezone`."""

    turn_id: str
    now_iso: str
    timezone: str

    @classmethod
    def at(cls, turn_id: UUID, asked_at: datetime, timezone: str) -> Self:
        return cls(str(turn_id), asked_at.astimezone(ZoneInfo(timezone)).isoformat(timespec="seconds"), timezone)

    @property
    def description(self) -> str:
        """Returns the time for a prompt, so that "today" is the user's."""
        now = datetime.fromisoformat(self.now_iso)
        return f"{DAYS[now.weekday()]}, {now:%Y-%m-%d %H:%M} ({self.timezone})"


@dataclass
class WrittenSoFar:
    """The part of an unfinished answer that was shown, with the citations that it claims and their passages."""

    mode: Literal["model", "extractive"] = "extractive"
    shown: list[str] = field(default_factory=list)
    cited: Sequence[CitedSpan] = ()
    passages: Sequence[FoundChunk] = ()


@dataclass
class ConversationContext:
    """One attempt's dependencies, with its `draft`. Without a model for answers they are extractive.

    `artifact` is the session's, as the attempt found it. `routing` is what chooses the route.

    `alike` measures the similarity of two words, `entailment` (if configured) whether a text says what a sentence says;
    `encoder` compares texts in different languages.
    Memory learns from the turn if it `remembers`. `edited_by_hand` is what the user wrote into the artifact since the
    last run; `profile` is what is known of the user. `documents` says which are still being processed. `image` returns
    an image of the session, or raises ImageNotFound; `image_hash` the SHA-256 of the bytes that were sent.
    """

    caller: Principal
    events: RunEvents
    retrieval: RetrievalService
    graph_tools: GraphService
    memory: MemoryService
    models: RunModels
    prompts: Prompts
    limits: TurnBudgets
    alike: WordLikeness
    clock: TurnClock
    artifact_prompts: ArtifactPrompts
    artifact: ArtifactInTurn | None = None
    routing: Routing = "auto"
    entailment: EntailmentModel | None = None
    encoder: MultilingualEncoder | None = None
    draft: WrittenSoFar = field(default_factory=WrittenSoFar)
    options: RunOptions = field(default_factory=RunOptions)
    remembers: bool = True
    documents: IngestionService | None = None
    image: Callable[[UUID], Awaitable[ImagePart]] | None = None
    image_hash: Callable[[UUID], Awaitable[str | None]] | None = None
    edited_by_hand: Sequence[str] = ()
    session_id: UUID | None = None
    profile: UserProfile = field(init=False)

    def __post_init__(self) -> None:
        used = self.options.get("use_preferences", True)
        self.profile = UserProfile(self.caller, self.memory, self.events, used)
