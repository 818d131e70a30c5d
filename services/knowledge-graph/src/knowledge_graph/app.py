"""The composition root: builds the service and everything it needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Gauge

from contracts.events import DOCUMENTS
from contracts.registry import INGESTION
from inference.factory import build_chat_model
from knowledge_graph.api import router as entities_router
from knowledge_graph.consumer import DocumentGraphs
from knowledge_graph.converted import SERVICE
from knowledge_graph.corrections.api import router as corrections_router
from knowledge_graph.corrections.corrections import GraphCorrections
from knowledge_graph.expansion.bridging import Bridging
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.export.api import router as export_router
from knowledge_graph.export.export import Export
from knowledge_graph.extraction.document import Methods
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.projection.deletion import ProjectionDeletion
from knowledge_graph.projection.port import Projection
from knowledge_graph.projection.projector import Projector
from knowledge_graph.projection.queue import CHANNEL
from knowledge_graph.queries import GraphQueries
from knowledge_graph.recording.generation import Generations
from knowledge_graph.refinement.api import router as refinement_router
from knowledge_graph.refinement.build import CHANNELS, start_refinement
from knowledge_graph.settings import Settings
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.store.reader import GraphReader
from knowledge_graph.tools.api import entities as passages_router
from knowledge_graph.tools.api import router as tools_router
from knowledge_graph.tools.chunks import ChunkTexts
from knowledge_graph.tools.pending import ANSWER_SECONDS, PendingDocuments
from knowledge_graph.tools.toolbox import Toolbox
from knowledge_graph.triples.api import router as triples_router
from knowledge_graph.triples.imports import TripleImports
from service_kit.app import service_app
from service_kit.event_service import EventService
from service_kit.http_service import HttpService, service_client
from service_kit.objects import ObjectStore


def create_app(settings: Settings) -> FastAPI:
    """Returns the app: the routes, the document consumer and, if Neo4j is configured, the projector."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await _build(app, settings, stack)
            yield

    routers = [entities_router, passages_router, refinement_router, tools_router, export_router, triples_router]
    routers.append(corrections_router)
    return service_app(SERVICE, settings, routers, lifespan)


async def _build(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    service = await stack.enter_async_context(EventService.opened(app, settings, SERVICE, [CHANNEL, *CHANNELS]))
    database, metrics = service.database, app.state.metrics
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    extractor = await stack.enter_async_context(Extractor(Methods(dependency=settings.graph_parser)))
    chat = build_chat_model(settings)
    if chat is not None:
        stack.push_async_callback(chat.aclose)
    postgres = PostgresStore(database)
    projected, projection = _neo4j(settings, postgres, stack)
    projects = projection is not None
    reader = GraphReader(postgres, projected, metrics.registry)
    app.state.generations = Generations(database, f"min_entity_freq={settings.graph_min_entity_freq}")
    gazetteers = Gazetteers(app.state.generations)
    bridging = Bridging(gazetteers)
    app.state.graph = GraphQueries(reader, extractor, bridging, settings.graph_min_entity_freq)
    client = await stack.enter_async_context(service_client())
    seconds = settings.retrieval_deadline_seconds
    retrieval = HttpService("retrieval", client, app.state.tokens, settings.retrieval_url, seconds)
    ingestion = HttpService(INGESTION, client, app.state.tokens, settings.ingestion_url, ANSWER_SECONDS)
    app.state.toolbox = Toolbox(reader, ChunkTexts(database, objects), retrieval, PendingDocuments(ingestion))
    app.state.export = Export(database)
    app.state.graph_corrections = GraphCorrections(database, postgres, projects=projects)
    app.state.triple_imports = TripleImports(database, projects=projects)

    documents = DocumentGraphs(database, objects, extractor, service.outbox, projects=projects)
    after = [ProjectionDeletion(database, projection)] if projection is not None else []
    reading = {DOCUMENTS: documents.handlers}
    running = service.running(reading, documents.give_up, after=after, together=documents.together)
    background = await stack.enter_async_context(running)
    background.start("gazetteers", gazetteers.run)
    app.state.refinement = start_refinement(
        settings, chat, database, objects, service.notifications, background, documents.regraph, metrics.registry
    )
    if projection is not None:
        projector = Projector(database, projection, service.outbox, _backlog(metrics.registry))
        background.start("projection", lambda: projector.run(service.notifications))


def _neo4j(
    settings: Settings, postgres: PostgresStore, stack: AsyncExitStack
) -> tuple[GraphStore | None, Projection | None]:
    """Returns how the graph is read from Neo4j and written to it, if it is configured."""
    if not settings.neo4j_url:
        return None, None
    # Imported here because the driver takes a sixth of the time that the service takes to start.
    from knowledge_graph.neo4j.connection import Neo4jConnection  # noqa: PLC0415
    from knowledge_graph.neo4j.projection import Neo4jProjection  # noqa: PLC0415
    from knowledge_graph.neo4j.store import Neo4jStore  # noqa: PLC0415

    connection = Neo4jConnection(settings)
    stack.push_async_callback(connection.aclose)
    return Neo4jStore(connection, postgres), Neo4jProjection(connection)


def _backlog(registry: CollectorRegistry) -> Gauge:
    return Gauge(
        "attractor_graph_projection_rows",
        "Changes in the latest batch of the projection to Neo4j (5000: there may be more)",
        registry=registry,
    )
