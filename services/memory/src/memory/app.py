"""The one place that builds things."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import FastAPI

from contracts.events import DOCUMENTS, TURNS, DocumentDeleted, TurnCompleted
from inference.factory import build_embedder
from memory.api import router
from memory.remember import Memories
from memory.settings import Settings
from service_kit.app import service_app
from service_kit.event_service import EventService

GROUP = "memory"


def create_app(settings: Settings) -> FastAPI:
    """The memory service: routes, and the consumers of turns and documents."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            EventService.opened(app, settings, GROUP) as service,
            aclosing(build_embedder(settings)) as embedder,
        ):
            memories = app.state.memories = Memories(service.database, embedder, service.outbox)
            reading = {
                TURNS: {TurnCompleted.event_type: memories.keep_episode},
                DOCUMENTS: {DocumentDeleted.event_type: memories.forget_document},
            }
            async with service.running(reading):
                yield

    return service_app("memory", settings, [router], lifespan)
