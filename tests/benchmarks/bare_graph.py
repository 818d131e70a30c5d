"""The conversation graph with only a checkpoint saver: no queue, lease, events or messages."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from deployment_keys import DeploymentKeys
from langgraph.runtime import RunControl
from prometheus_client import CollectorRegistry, Counter

from contracts.models import MODEL_ROLES
from inference.openai_chat import OpenAIChat
from inference.role_chat import RoleCandidate, RoleChat
from orchestrator.graphs.artifact_ops.prompting import ArtifactPrompts
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.context import Prompts, TurnBudgets
from orchestrator.graphs.conversation.turn import ConversationTurns
from orchestrator.models.run_models import RunModels
from orchestrator.runs.records import ClaimedRun, EarlierMessage, RunProgress, TurnInput
from orchestrator.services import GraphService, MemoryService, RetrievalService
from orchestrator.settings import Settings
from relevance.word_vectors import WordVectors


@dataclass
class UnheardEvents:
    """Discards the events of a graph."""

    stage: str | None = None
    facts: list[Any] = field(default_factory=list)

    def emit(self, event: Any) -> None:
        """Discards the event."""

    async def flush(self) -> None:
        """Does nothing."""

    async def streamed_before(self) -> bool:
        return False


@dataclass
class UncountedModels:
    """Gives every run the same model, without counting usage."""

    chat: OpenAIChat

    @asynccontextmanager
    async def for_run(self, *_: object) -> AsyncIterator[RunModels]:
        candidates = [RoleCandidate("operator", self.chat)]
        yield RunModels({role: RoleChat(role, candidates) for role in MODEL_ROLES})


def bare_graph(settings: Settings, saved: Any, http: Any, chat: Any) -> ConversationTurns:
    tokens = DeploymentKeys().tokens("orchestrator")
    return ConversationTurns(
        conversation.build(),
        saved,
        RetrievalService("retrieval", http, tokens, settings.retrieval_url, 10.0),
        GraphService("knowledge-graph", http, tokens, settings.knowledge_graph_url, 10.0),
        MemoryService("memory", http, tokens, settings.memory_url, 10.0),
        UncountedModels(chat),  # type: ignore[arg-type]
        Prompts.load(),
        TurnBudgets(settings.search_k, settings.passage_tokens, settings.history_tokens, settings.summary_tokens),
        RunControl(),
        Counter("sentences", "told", ["status"], registry=CollectorRegistry()),
        WordVectors().alike,
        ArtifactPrompts.load(),
    )


async def bare_turn(turns: ConversationTurns) -> float:
    """Returns the seconds that a turn takes, including the deletion of its checkpoints."""
    run = ClaimedRun(uuid4(), uuid4(), uuid4(), uuid4(), "owner", None, 1, 2, uuid4(), False, None, 600, None, {})
    asked = EarlierMessage(uuid4(), "user", "How long are tokens valid?", [], False, False, datetime.now(UTC))
    began = time.perf_counter()
    turn = TurnInput(uuid4(), [asked], None)
    await turns.answer(run, turn, UnheardEvents(), RunProgress())  # type: ignore[arg-type]
    await turns.checkpoints.saver(run.workspace_id).adelete_thread(str(run.id))
    return time.perf_counter() - began
