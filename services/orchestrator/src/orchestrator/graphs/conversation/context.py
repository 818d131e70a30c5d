"""The nodes' dependencies, which live beside the state and never in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from inference.chat import ChatModel
from inference.prompts import Prompt
from orchestrator.runs.events import RunEvents
from orchestrator.services import MemoryService, RetrievalService
from service_kit.auth import Principal


@dataclass(frozen=True)
class Prompts:
    """The prompts, loaded at start-up: a wrong token fails then and not in a user's turn."""

    reply_to_general_input: Prompt
    generate_title: Prompt
    situations: Mapping[str, str]
    package: ClassVar[str] = "orchestrator.graphs.conversation.prompts"

    @classmethod
    def load(cls) -> Prompts:
        """Raises PromptInvalid."""
        return cls(
            Prompt.load(cls.package, "reply_to_general_input.md", tokens=("situation", "passages", "memories")),
            Prompt.load(cls.package, "generate_title.md", tokens=("question", "answer")),
            {
                name: Prompt.load(cls.package, f"situations/{name}.md", tokens=()).render()
                for name in ("courtesy", "found", "nothing", "failed")
            },
        )


@dataclass(frozen=True)
class TurnBudgets:
    """`search_k` passages; budgets in tokens (estimated)."""

    search_k: int
    passage_tokens: int
    history_tokens: int


@dataclass(frozen=True)
class ConversationContext:
    """One attempt's dependencies. Without a `chat` model answers are extractive."""

    caller: Principal
    events: RunEvents
    retrieval: RetrievalService
    memory: MemoryService
    chat: ChatModel | None
    prompts: Prompts
    limits: TurnBudgets
