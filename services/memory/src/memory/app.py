"""The one place that builds things."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, DocumentDeleted, TurnCompleted
from inference.factory import build_embedder
from memory.api import router
from memory.remember import Memories
from memory.settings import Settings
from service_kit.app import service_app
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, OutboxRelay, keep_forgetting
from service_kit.postgres import Database
from service_kit.streams import Consumer

GROUP = "memory"


def create_app(settings: Settings) -> FastAPI:
    """The memory service: routes, and the consumers of turns and documents."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            url = settings.database_url.get_secret_value()
            database = await stack.enter_async_context(Database(url, settings.database_pool_size).opened())
            redis = await stack.enter_async_context(Redis.from_url(settings.redis_url.get_secret_value()))
            embedder = build_embedder(settings)
            stack.push_async_callback(embedder.aclose)
            memories = Memories(database, embedder, Outbox(GROUP))
            background = await stack.enter_async_context(Background(app.state.metrics))
            _start(background, app, settings, database, redis, memories)

            app.state.memories = memories
            app.state.health.add("database", database.check)
            app.state.health.add("redis", redis.ping)
            app.state.health.add("background", background.check)
            yield

    return service_app("memory", settings, [router], lifespan)


def _start(
    background: Background, app: FastAPI, settings: Settings, database: Database, redis: Redis, memories: Memories
) -> None:
    metrics = app.state.metrics
    notifications = Notifications(settings.database_url.get_secret_value(), "memory_outbox")
    relay = OutboxRelay(database, redis, notifications, metrics, "memory")
    turns = Consumer(redis, TURNS, GROUP, {TurnCompleted.event_type: memories.keep_episode}, metrics)
    documents = Consumer(redis, DOCUMENTS, GROUP, {DocumentDeleted.event_type: memories.forget_document}, metrics)

    background.start("notifications", notifications.run)
    background.start("outbox", relay.run)
    background.start("turns", turns.run)
    background.start("documents", documents.run)
    background.start("housekeeping", lambda: keep_forgetting(database))
