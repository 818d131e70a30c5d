"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

from fastapi import FastAPI

from contracts.registry import ORCHESTRATOR
from inference.factory import build_chat_model, build_embedder
from memory.api import router
from memory.consumer import MemoryConsumer
from memory.embedding.filling import EmbeddingFilling
from memory.embedding.work import CHANNEL
from memory.episodes.turn_events import TurnEvents
from memory.facts.reading import FactReading
from memory.facts.writer import FactWriter
from memory.imports.api import router as imports_router
from memory.imports.importing import Importing
from memory.preparation import Preparation
from memory.recall.indexes import MemoryIndexes
from memory.recall.recall import Recall
from memory.rights.api import router as rights_router
from memory.rights.forgetting import Forgetting
from memory.rights.retention import Retention
from memory.settings import Settings
from memory.topics.reflection import TopicReflection
from memory.world.api import router as world_router
from memory.world.session_owners import OrchestratorSessions
from memory.world.settled_runs import CHANNEL as SETTLED_RUN_CHANNEL
from memory.world.settled_runs import SettledRuns
from memory.world.worlds import Worlds
from service_kit.app import service_app
from service_kit.embedding_metrics import EmbeddingMetrics
from service_kit.event_service import EventService
from service_kit.http_service import service_client

NAME = "memory"
ANSWER_SECONDS = 5.0  # deadline for asking the orchestrator whose session it is


def create_app(settings: Settings) -> FastAPI:
    """Returns the service: routes, consumers of turns and documents, and background tasks (embedding, retention)."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            EventService.opened(app, settings, NAME, [CHANNEL, SETTLED_RUN_CHANNEL]) as service,
            aclosing(build_embedder(settings, EmbeddingMetrics(app.state.metrics.registry).of("memory"))) as embedder,
            service_client() as http,
            AsyncExitStack() as stack,
        ):
            chat = build_chat_model(settings) if settings.facts_by_model else None
            if chat is not None:
                stack.push_async_callback(chat.aclose)
            sessions = OrchestratorSessions(
                ORCHESTRATOR, http, app.state.tokens, settings.orchestrator_url, ANSWER_SECONDS
            )
            app.state.worlds = Worlds(service.database, sessions)
            app.state.settled_runs = SettledRuns(service.database, service.notifications)
            indexes = MemoryIndexes(service.database, embedder.space, settings.recall_index_bytes)
            preparation = Preparation(embedder, indexes.analyzer, indexes.tokenizer)
            app.state.database, app.state.preparation = service.database, preparation
            app.state.recall = Recall(service.database, indexes, embedder)
            app.state.turn_events = turns = TurnEvents(service.redis)
            app.state.forgetting = Forgetting(service.database, app.state.recall, turns)
            writer = FactWriter(preparation)
            reading = FactReading(service.database, chat, app.state.recall, app.state.metrics.registry)
            app.state.importing = Importing(service.database, preparation, writer)
            topics = TopicReflection(service.database, chat)
            consumer = MemoryConsumer(service.database, preparation, topics, reading, writer, turns, service.outbox)
            async with service.running(consumer.handlers, together=consumer.together) as background:
                filling = EmbeddingFilling(service.database, service.notifications, preparation)
                background.start("embedding", filling.worker.run)
                background.start("retention", Retention(service.database, turns).run)
                yield

    return service_app(NAME, settings, [rights_router, router, imports_router, world_router], lifespan)
