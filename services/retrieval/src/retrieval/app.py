"""The one place that builds things."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from redis.asyncio import Redis

from contracts.events import DOCUMENTS
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from inference.factory import build_embedder
from retrieval.analysis import Analyzer
from retrieval.api import router
from retrieval.consumer import GROUP, Indexer
from retrieval.index_store import ensure_vector_index
from retrieval.legs import Legs, Limits
from retrieval.query_vectors import QueryVectors
from retrieval.search import Search
from retrieval.search_store import SearchStore
from retrieval.settings import Settings
from service_kit.app import service_app
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox, OutboxRelay, keep_forgetting
from service_kit.postgres import Database
from service_kit.streams import Consumer

log = logging.getLogger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """The retrieval service: the search, and the consumer that keeps its index."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            url = settings.database_url.get_secret_value()
            database = await stack.enter_async_context(Database(url, settings.database_pool_size).opened())
            redis = await stack.enter_async_context(Redis.from_url(settings.redis_url.get_secret_value()))
            objects = ObjectStore(settings)
            stack.callback(objects.close)
            embedder = build_embedder(settings)
            stack.push_async_callback(embedder.aclose)
            await _prepare_space(database, embedder)
            background = await stack.enter_async_context(Background(app.state.metrics))
            _start(background, app, settings, database, redis, Indexer(database, objects, Outbox(GROUP)))

            app.state.search = build_search(database, embedder, settings)
            app.state.health.add("database", database.check)
            app.state.health.add("redis", redis.ping)
            app.state.health.add("object_store", objects.check)
            app.state.health.add("background", background.check)
            yield

    return service_app("retrieval", settings, [router], lifespan)


def build_search(database: Database, embedder: Embedder, settings: Settings) -> Search:
    """The use case on an open database."""
    analyzer = Analyzer()
    limits = Limits(
        lexical_seconds=settings.lexical_deadline_seconds,
        dense_seconds=settings.dense_deadline_seconds,
        highlight_seconds=settings.highlight_deadline_seconds,
        exact_scan=settings.exact_scan_limit,
    )
    store = SearchStore(database, settings.hnsw_ef_search)
    return Search(Legs(store, QueryVectors(embedder), analyzer, limits), analyzer)


async def _prepare_space(database: Database, embedder: Embedder) -> None:
    """The index of the embedding space, and a model in memory before the first query."""
    async with database.system() as connection:
        await ensure_vector_index(connection, embedder.space.model, embedder.space.dims)
    try:
        await embedder.embed(["warm"])
    except EmbeddingError as error:  # a provider that is away must not keep the lexical leg from starting
        log.warning("the embedding model does not answer yet", exc_info=error)


def _start(
    background: Background, app: FastAPI, settings: Settings, database: Database, redis: Redis, indexer: Indexer
) -> None:
    metrics = app.state.metrics
    notifications = Notifications(settings.database_url.get_secret_value(), "retrieval_outbox")
    relay = OutboxRelay(database, redis, notifications, metrics, "retrieval")
    consumer = Consumer(redis, DOCUMENTS, GROUP, indexer.handlers, metrics, indexer.on_dead)

    background.start("notifications", notifications.run)
    background.start("outbox", relay.run)
    background.start("documents", consumer.run)
    background.start("housekeeping", lambda: keep_forgetting(database))
