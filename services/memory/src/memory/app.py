"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import httpx2
from fastapi import FastAPI

from contracts.registry import ORCHESTRATOR
from inference.factory import build_embedder
from memory.api import router
from memory.consumer import MemoryConsumer
from memory.settings import Settings
from memory.world.api import router as world_router
from memory.world.session_owners import OrchestratorSessions
from memory.world.worlds import Worlds
from service_kit.app import service_app
from service_kit.event_service import EventService

NAME = "memory"
ANSWER_SECONDS = 5.0  # that the orchestrator has to say whose a session is


def create_app(settings: Settings) -> FastAPI:
    """Returns the service: its routes, and the consumers of turns and documents."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            EventService.opened(app, settings, NAME) as service,
            aclosing(build_embedder(settings)) as embedder,
            httpx2.AsyncClient(trust_env=False) as http,
        ):
            sessions = OrchestratorSessions(
                ORCHESTRATOR, http, app.state.tokens, settings.orchestrator_url, ANSWER_SECONDS
            )
            app.state.database, app.state.embedder = service.database, embedder
            app.state.worlds = Worlds(service.database, sessions)
            async with service.running(MemoryConsumer(service.database, embedder, service.outbox).handlers):
                yield

    return service_app(NAME, settings, [router, world_router], lifespan)
