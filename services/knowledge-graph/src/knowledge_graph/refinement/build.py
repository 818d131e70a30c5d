"""Builds the refinement's parts, and starts its background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from prometheus_client import CollectorRegistry

from inference.chat import StructuredChatModel
from knowledge_graph.refinement.asker import Asker
from knowledge_graph.refinement.asking import Asking
from knowledge_graph.refinement.metrics import RefinementMetrics
from knowledge_graph.refinement.pricing import Prices
from knowledge_graph.refinement.records import ClaimedRun
from knowledge_graph.refinement.refine import Refinement
from knowledge_graph.refinement.run_work import Backoff, RunWork
from knowledge_graph.refinement.texts import Texts, UnreadDocuments
from knowledge_graph.refinement.work_store import WorkStore
from knowledge_graph.refinement.worker import RefinementWorker, ResultApplier
from knowledge_graph.settings import Settings
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.postgres import Database


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
    """Without a chat model runs cannot be started; results that are there are still joined and removed."""
    asking, unread = Asking.load(), UnreadDocuments(database, objects)
    store = WorkStore(database, settings.graph_refinement_lease_seconds)
    background.start("refinement_results", ResultApplier(store, notifications, regraph).run)
    if chat is not None:
        asker = Asker(chat, asking, settings.graph_refinement_answer_tokens, RefinementMetrics(registry))
        concurrency = settings.graph_refinement_concurrency
        slots, texts = asyncio.Semaphore(concurrency), Texts(objects)
        backoff = Backoff(settings.graph_refinement_backoff_seconds)

        def work(run: ClaimedRun) -> RunWork:
            return RunWork(run, store, asker, texts, unread, slots, concurrency, backoff)

        background.start("refinement", RefinementWorker(store, notifications, work).run)
    prices = Prices(settings.chat_input_price, settings.chat_output_price, settings.chat_price_currency)
    configured = chat.model if chat is not None else None
    return Refinement(database, unread, asking, prices, configured, settings.graph_refinement_answer_tokens)
