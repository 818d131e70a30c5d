"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import FastAPI

from inference.factory import build_embedder
from memory.api import router
from memory.consumer import MemoryConsumer
from memory.embedding.filling import EmbeddingFilling
from memory.embedding.work import CHANNEL
from memory.facts.writer import FactWriter
from memory.imports.api import router as imports_router
from memory.imports.importing import Importing
from memory.preparation import Preparation
from memory.recall.indexes import MemoryIndexes
from memory.recall.recall import Recall
from memory.settings import Settings
from service_kit.app import service_app
from service_kit.event_service import EventService

NAME = "memory"


def create_app(settings: Settings) -> FastAPI:
    """Returns the service: its routes, the consumers of turns and documents, and the embedding in the background."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            EventService.opened(app, settings, NAME, [CHANNEL]) as service,
            aclosing(build_embedder(settings)) as embedder,
        ):
            indexes = MemoryIndexes(service.database, embedder.space, settings.recall_index_bytes)
            preparation = Preparation(embedder, indexes.analyzer, indexes.tokenizer)
            app.state.database, app.state.preparation = service.database, preparation
            app.state.recall = Recall(service.database, indexes, embedder)
            writer = FactWriter(preparation)
            app.state.importing = Importing(service.database, preparation, writer)
            consumer = MemoryConsumer(service.database, preparation, writer, service.outbox)
            async with service.running(consumer.handlers) as background:
                filling = EmbeddingFilling(service.database, service.notifications, preparation)
                background.start("embedding", filling.worker.run)
                yield

    return service_app(NAME, settings, [router, imports_router], lifespan)
