"""The one place that builds things."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from prometheus_client import Gauge
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentConverted, DocumentDeleted
from knowledge_graph.api import router
from knowledge_graph.ask import Graph
from knowledge_graph.extractor import Extractor
from knowledge_graph.graph_document import SERVICE, DocumentGraphs
from knowledge_graph.graph_reader import GraphReader
from knowledge_graph.neo4j_connection import Neo4jConnection
from knowledge_graph.neo4j_store import Neo4jStore
from knowledge_graph.postgres_store import PostgresStore
from knowledge_graph.projection import CHANNEL, Projector
from knowledge_graph.settings import Settings
from service_kit.app import service_app
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox, OutboxRelay, keep_forgetting
from service_kit.postgres import Database
from service_kit.streams import Consumer
from service_kit.telemetry import Metrics

SCHEMA, GROUP = "knowledge_graph", "knowledge-graph"


def create_app(settings: Settings) -> FastAPI:
    """The knowledge-graph service: routes, the consumer of documents, and the projection to Neo4j if there is one."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            url = settings.database_url.get_secret_value()
            database = await stack.enter_async_context(Database(url, settings.database_pool_size).opened())
            redis = await stack.enter_async_context(Redis.from_url(settings.redis_url.get_secret_value()))
            objects = ObjectStore(settings)
            stack.callback(objects.close)
            extractor = await stack.enter_async_context(Extractor())
            neo4j = Neo4jConnection(settings) if settings.neo4j_url else None
            if neo4j is not None:
                stack.push_async_callback(neo4j.aclose)
            background = await stack.enter_async_context(Background(app.state.metrics))
            documents = DocumentGraphs(database, objects, extractor, Outbox(SERVICE), projects=neo4j is not None)
            notifications = Notifications(url, f"{SCHEMA}_outbox", CHANNEL)
            background.start("notifications", notifications.run)
            _start(background, app.state.metrics, database, redis, notifications, documents)
            if neo4j is not None:
                _start_projection(background, app.state.metrics, database, neo4j, notifications)
            shown = Neo4jStore(neo4j) if neo4j is not None else None
            app.state.graph = Graph(GraphReader(database, PostgresStore(database), shown), extractor)

            app.state.health.add("database", database.check)
            app.state.health.add("redis", redis.ping)
            app.state.health.add("background", background.check)
            yield

    return service_app(SERVICE, settings, [router], lifespan)


def _start(
    background: Background,
    metrics: Metrics,
    database: Database,
    redis: Redis,
    notifications: Notifications,
    documents: DocumentGraphs,
) -> None:
    handlers = {DocumentConverted.event_type: documents.graph, DocumentDeleted.event_type: documents.forget}
    consumer = Consumer(redis, DOCUMENTS, GROUP, handlers, metrics, on_dead=documents.give_up)

    background.start("outbox", OutboxRelay(database, redis, notifications, metrics, SCHEMA).run)
    background.start("documents", consumer.run)
    background.start("housekeeping", lambda: keep_forgetting(database))


def _start_projection(
    background: Background, metrics: Metrics, database: Database, neo4j: Neo4jConnection, notifications: Notifications
) -> None:
    backlog = Gauge(
        "attractor_graph_projection_rows",
        "Documents that the projection to Neo4j took up last (20: there may be more)",
        registry=metrics.registry,
    )
    projector = Projector(database, neo4j, Outbox(SERVICE), backlog)
    background.start("projection", lambda: projector.run(notifications))
