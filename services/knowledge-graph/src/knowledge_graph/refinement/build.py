"""Builds the parts of refinement, and starts its background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from prometheus_client import CollectorRegistry

from inference.chat import StructuredChatModel
from knowledge_graph.refinement.asker import Asker
from knowledge_graph.refinement.asking import RefinementPrompt
from knowledge_graph.refinement.metrics import RefinementMetrics
from knowledge_graph.refinement.records import HeldRefinement
from knowledge_graph.refinement.refinement import Refinement
from knowledge_graph.refinement.regrapher import Regrapher
from knowledge_graph.refinement.store import REFINEMENT, REGRAPHING
from knowledge_graph.refinement.texts import TextCache, UnreadDocuments
from knowledge_graph.refinement.workspace_refinement import ProviderBackoff, WorkspaceRefinement
from knowledge_graph.settings import Settings
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.work import WorkQueue
from service_kit.worker import Worker

CHANNELS = (REFINEMENT.channel, REGRAPHING.channel)
WORKSPACES_AT_ONCE = 4
REGRAPH_LEASE_SECONDS = 120.0


def start_refinement(
    settings: Settings,
    chat: StructuredChatModel | None,
    database: Database,
    objects: ObjectStore,
    notifications: Notifications,
    background: Background,
    regraph: Callable[[UUID, UUID], Awaitable[None]],
    registry: CollectorRegistry,
) -> Refinement:
    """Starts the workers. Without a chat model, refinement cannot be turned on but stored results are still joined."""
    asking, unread = RefinementPrompt.load(), UnreadDocuments(database, objects)
    documents = WorkQueue(database, REGRAPHING, REGRAPH_LEASE_SECONDS)
    regrapher = Regrapher(documents, regraph)
    background.start("refinement_results", Worker(documents, regrapher.execute, notifications, 1).run)
    if chat is not None:
        asker = Asker(chat, asking, settings.graph_refinement_answer_tokens, RefinementMetrics(registry))
        concurrency = settings.graph_refinement_concurrency
        slots, texts = asyncio.Semaphore(concurrency), TextCache(objects)
        backoff = ProviderBackoff(settings.graph_refinement_backoff_seconds)
        queue = WorkQueue(database, REFINEMENT, settings.graph_refinement_lease_seconds)

        async def execute(held: HeldRefinement) -> None:
            await WorkspaceRefinement(held, queue, asker, texts, unread, slots, concurrency, backoff).execute()

        background.start("refinement", Worker(queue, execute, notifications, WORKSPACES_AT_ONCE).run)
    model = chat.model if chat is not None else None
    return Refinement(database, unread, asking, model, settings.graph_refinement_answer_tokens)
