"""The nodes' dependencies, which live beside the state and never in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from inference.chat import ChatModel
from inference.entailment import EntailmentModel
from inference.prompts import Prompt
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.wording import WordLikeness
from orchestrator.graphs.conversation.state import FoundChunk
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import RunOptions
from orchestrator.services import GraphService, MemoryService, RetrievalService
from service_kit.auth import Principal


@dataclass(frozen=True)
class Prompts:
    """The prompts, loaded at start-up: a wrong token fails then and not in a user's turn."""

    reply_to_general_input: Prompt
    instructions: Prompt
    generate_title: Prompt
    summarizer: Prompt
    verify_citations: Prompt
    situations: Mapping[str, str]
    package: ClassVar[str] = "orchestrator.graphs.conversation.prompts"

    @classmethod
    def load(cls) -> Prompts:
        """Raises PromptInvalid."""
        return cls(
            Prompt.load(
                cls.package, "reply_to_general_input.md", tokens=("situation", "passages", "memories", "earlier")
            ),
            Prompt.load(cls.package, "instructions.md", tokens=("instructions",)),
            Prompt.load(cls.package, "generate_title.md", tokens=("question", "answer")),
            Prompt.load(cls.package, "summarizer.md", tokens=("earlier", "messages")),
            Prompt.load(cls.package, "verify_citations.md", tokens=("sentences",)),
            {
                name: Prompt.load(cls.package, f"situations/{name}.md", tokens=()).render()
                for name in ("courtesy", "found", "nothing", "failed")
            },
        )


@dataclass(frozen=True)
class TurnBudgets:
    """`search_k` passages; budgets in tokens (estimated). Past `summary_tokens` older messages are condensed.

    `entailment_seconds` is how long the check of an answer waits for the entailment model.
    """

    search_k: int
    passage_tokens: int
    history_tokens: int
    summary_tokens: int
    entailment_seconds: float = 10.0


@dataclass
class WrittenSoFar:
    """What was shown of an answer that is being written, with the citations that it claims and their passages."""

    mode: Literal["model", "extractive"] = "extractive"
    shown: list[str] = field(default_factory=list)
    cited: Sequence[CitedSpan] = ()
    passages: Sequence[FoundChunk] = ()


@dataclass
class ConversationContext:
    """One attempt's dependencies, and its `draft`. Without a `chat` model answers are extractive.

    `alike` says how alike two words are, `entailment` whether a text says what a sentence says, where it is configured.
    """

    caller: Principal
    events: RunEvents
    retrieval: RetrievalService
    graph_tools: GraphService
    memory: MemoryService
    chat: ChatModel | None
    prompts: Prompts
    limits: TurnBudgets
    alike: WordLikeness
    entailment: EntailmentModel | None = None
    draft: WrittenSoFar = field(default_factory=WrittenSoFar)
    options: RunOptions = field(default_factory=RunOptions)
