"""The composition root."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from contracts.events import DOCUMENTS
from inference.embedders import Embedders
from inference.errors import EmbeddingError
from inference.factory import build_embedders, build_reranker
from inference.rerank import Reranker
from relevance.analysis import Analyzer
from retrieval.context.api import router as context_router
from retrieval.context.assembly import ContextAssembly
from retrieval.context.tokenizers import ContextTokenizers
from retrieval.dense.query_vectors import QueryVectors
from retrieval.embeddings.api import router as embeddings_router
from retrieval.embeddings.embedding import TextEmbedding
from retrieval.index import blocks
from retrieval.index.api import IndexDocuments
from retrieval.index.api import router as index_router
from retrieval.index.compaction import Compaction
from retrieval.index.consumer import GROUP, Indexer
from retrieval.reading.leg import SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.api import router
from retrieval.search.cache import SearchCache, version_of
from retrieval.search.leg_metrics import LegMetrics
from retrieval.search.legs import Legs
from retrieval.search.reranking import Reranking
from retrieval.search.scoped_search import ScopedSearch
from retrieval.search.search import Search
from retrieval.search.sessions import SessionDocuments
from retrieval.settings import Settings
from retrieval.spaces.api import router as spaces_router
from retrieval.spaces.builder import SpaceBuilder
from retrieval.spaces.lifecycle import SpaceLifecycle
from retrieval.spaces.rows import CHANNEL, ensure_vector_index
from retrieval.tuning.api import router as settings_router
from retrieval.tuning.store import SearchSettingsStore
from service_kit.app import service_app
from service_kit.embedding_metrics import EmbeddingMetrics
from service_kit.event_service import EventService
from service_kit.http_service import HttpService, service_client
from service_kit.objects import ObjectStore
from service_kit.postgres import Database

log = logging.getLogger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """Builds the service: search, the consumer that keeps the index, and the background tasks."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            channels = [CHANNEL, blocks.CHANNEL]
            service = await stack.enter_async_context(EventService.opened(app, settings, GROUP, channels))
            database, outbox = service.database, service.outbox
            objects = ObjectStore(settings)
            stack.callback(objects.close)
            metrics = app.state.metrics.registry
            calls = EmbeddingMetrics(metrics)
            embedders = await stack.enter_async_context(
                aclosing(build_embedders(settings, queries=True, watch=calls.of("query")))
            )
            default = (embedders.default.space.model, embedders.default.space.dims)
            await _prepare_default(database, embedders)
            reranker = build_reranker(settings)
            if reranker is not None:
                stack.push_async_callback(reranker.aclose)

            version = version_of(settings.model_dump_json(exclude={"host", "port"}))
            cache = SearchCache(service.redis, version, settings.search_cache_seconds, metrics)
            client = await stack.enter_async_context(service_client())
            tokens = app.state.tokens
            graphs = HttpService(
                "knowledge-graph", client, tokens, settings.knowledge_graph_url, settings.graph_deadline_seconds
            )
            orchestrator = HttpService(
                "orchestrator", client, tokens, settings.orchestrator_url, settings.sessions_deadline_seconds
            )
            kept = cache if settings.search_cache else None
            searching = build_search(database, embedders, settings, reranker, kept, graphs, metrics)
            app.state.search = ScopedSearch(searching, SessionDocuments(orchestrator))
            app.state.search_settings = SearchSettingsStore(database, default, searching.legs.registry)
            tokenizers = ContextTokenizers(settings.tokenizers_folder, settings.context_tokenizer)
            app.state.context = ContextAssembly(tokenizers, app.state.search)
            texts = calls.of("texts")
            yielding = await stack.enter_async_context(
                aclosing(build_embedders(settings, background=True, watch=texts))
            )
            app.state.text_embedding = TextEmbedding(yielding)
            app.state.spaces = SpaceLifecycle(database, embedders, outbox)
            app.state.index_documents = IndexDocuments(database, default)
            app.state.health.add("object_store", objects.check)
            indexer = Indexer(database, objects, outbox, default, cache.delete)
            background = await stack.enter_async_context(
                service.running(
                    {DOCUMENTS: indexer.handlers}, indexer.on_dead, after=[cache.delete], together=indexer.together
                )
            )
            builder = SpaceBuilder(
                database,
                service.notifications,
                outbox,
                lambda: build_embedders(settings, background=True, watch=texts),
                embedders.spaces,
                settings.build_batch_size,
            )
            background.start("embedding_spaces", builder.worker.run)
            background.start("embedding_spaces_housekeeping", builder.keep_house)
            compaction = Compaction(database, metrics)
            background.start("compaction", lambda: compaction.run(service.notifications))
            yield

    routers = [router, index_router, context_router, settings_router, spaces_router, embeddings_router]
    return service_app("retrieval", settings, routers, lifespan)


def build_search(
    database: Database,
    embedders: Embedders,
    settings: Settings,
    reranker: Reranker | None = None,
    cache: SearchCache | None = None,
    graphs: HttpService | None = None,
    registry: CollectorRegistry | None = None,
) -> Search:
    """Builds the search over an open database."""
    analyzer = Analyzer()
    limits = SearchLimits(
        lexical_seconds=settings.lexical_deadline_seconds,
        dense_seconds=settings.dense_deadline_seconds,
        exact_scan=settings.exact_scan_limit,
        hnsw_tuple_cost=settings.hnsw_tuple_cost,
        posting_bytes=settings.posting_cache_bytes,
    )
    default = embedders.default.space
    store = SearchStore(database, settings.hnsw_ef_search, (default.model, default.dims))
    reranking = None
    if reranker is not None:
        reranking = Reranking(reranker, settings.rerank_deadline_seconds, settings.rerank_candidates)
    asked = graphs if graphs and graphs.is_there else None
    legs = Legs(store, QueryVectors(embedders), analyzer, limits, asked, LegMetrics(registry))
    return Search(legs, analyzer, reranking, cache=cache)


async def _prepare_default(database: Database, embedders: Embedders) -> None:
    """Creates the index of the default embedding space, and loads its model before the first query."""
    default = embedders.default
    async with database.system() as connection:
        await ensure_vector_index(connection, default.space.model, default.space.dims)
    try:
        await default.embed(["warm"])
    except EmbeddingError as error:  # a provider that is down must not keep the lexical leg from starting
        log.warning("the embedding model does not respond yet", exc_info=error)
