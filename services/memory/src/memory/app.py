"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import FastAPI

from inference.factory import build_embedder
from memory.api import router
from memory.consumer import MemoryConsumer
from memory.settings import Settings
from service_kit.app import service_app
from service_kit.event_service import EventService

NAME = "memory"


def create_app(settings: Settings) -> FastAPI:
    """Returns the service: its routes, and the consumers of turns and documents."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            EventService.opened(app, settings, NAME) as service,
            aclosing(build_embedder(settings)) as embedder,
        ):
            app.state.database, app.state.embedder = service.database, embedder
            async with service.running(MemoryConsumer(service.database, embedder, service.outbox).handlers):
                yield

    return service_app(NAME, settings, [router], lifespan)
