"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import langsmith
from fastapi import FastAPI
from langgraph.runtime import RunControl
from prometheus_client import CollectorRegistry
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from contracts.events import DOCUMENTS
from contracts.orchestrator import SentenceStatus
from inference.endpoints import Endpoints
from inference.entailment import EntailmentModel
from inference.factory import build_chat_model, build_entailment
from orchestrator import checkpoints
from orchestrator.artifacts import api as artifacts_api
from orchestrator.artifacts.editing import ArtifactEditing
from orchestrator.artifacts.indexing import ArtifactIndexing
from orchestrator.configuration import api as configuration_api
from orchestrator.configuration import presets_api
from orchestrator.configuration.presets import PresetStore
from orchestrator.configuration.schema import OPERATOR
from orchestrator.configuration.store import ConfigurationStore
from orchestrator.consumer import DocumentConsumer
from orchestrator.export import api as export_api
from orchestrator.export.converter import DocumentConverter
from orchestrator.export.exporting import ArtifactExporting
from orchestrator.export.limits import ExportLimits
from orchestrator.feedback import api as feedback_api
from orchestrator.graphs import drawing_api
from orchestrator.graphs.artifact_ops.prompting import ArtifactPrompts
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.context import Prompts, TurnBudgets
from orchestrator.graphs.conversation.multilingual import MultilingualEncoder
from orchestrator.graphs.conversation.turn import ConversationTurns
from orchestrator.images import api as images_api
from orchestrator.images.decoding import ImageDecoder
from orchestrator.images.keeping import ImageKeeping
from orchestrator.images.limits import ImageLimits
from orchestrator.models.model_source import ModelSource
from orchestrator.models.role_listing import ModelListing
from orchestrator.models.start_check import check_roles
from orchestrator.openai_api import api as openai_api
from orchestrator.openai_api import responses
from orchestrator.openai_api.asking import OpenAIRuns
from orchestrator.openai_api.models import Models
from orchestrator.quick_actions import api as quick_actions_api
from orchestrator.runs import api as runs_api
from orchestrator.runs.attempt import Attempt, first_words_histogram
from orchestrator.runs.ended import EndedRuns
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import ClaimedRun
from orchestrator.runs.repository import CANCELLED, QUEUED, RUNS
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import RunStreams
from orchestrator.runs.worker import run_worker
from orchestrator.services import GraphService, IngestionService, MemoryService, RetrievalService
from orchestrator.sessions import api as sessions_api
from orchestrator.sessions import internal, messages_api
from orchestrator.sessions.attachments import DocumentAttacher
from orchestrator.sessions.deletion import SessionEraser
from orchestrator.settings import Settings
from orchestrator.shares import api as shares_api
from orchestrator.shares.sharing import SessionSharing
from orchestrator.usage import api as usage_api
from orchestrator.usage.model_metrics import ModelMetrics
from orchestrator.usage.spender import TokenLimits
from relevance.word_vectors import WordVectors
from service_kit.app import service_app
from service_kit.event_service import EventService
from service_kit.http_service import service_client
from service_kit.objects import ObjectStore
from service_kit.readings import counter
from service_kit.tokens import Tokens
from service_kit.web_connect import CheckedTransport
from service_kit.work import WorkQueue

NAME = "orchestrator"
REDIS_RETRIES = 3
# Further runs that write events at the same time wait for a connection, and then write larger batches.
WRITING_CONNECTIONS = 64
# A saver holds a connection only while a statement runs.
CHECKPOINT_CONNECTIONS = 8


def create_app(settings: Settings) -> FastAPI:
    """Returns the service with its worker: each process serves requests and executes runs."""
    # LangGraph sends prompts and answers to a hosted service if LANGSMITH_TRACING is set in the environment.
    langsmith.configure(enabled=False)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await _build(app, settings, stack)
            yield

    routers = [
        sessions_api.router,
        messages_api.router,
        runs_api.router,
        feedback_api.router,
        openai_api.router,
        responses.router,
        usage_api.router,
        configuration_api.router,
        presets_api.router,
        shares_api.router,
        shares_api.internal,
        internal.router,
        artifacts_api.router,
        export_api.router,
        quick_actions_api.router,
        images_api.router,
        drawing_api.router,
    ]
    return service_app(NAME, settings, routers, lifespan)


async def _build(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    redis = writing_redis(settings)
    service = await stack.enter_async_context(EventService.opened(app, settings, NAME, [QUEUED, CANCELLED], redis))
    app.state.database = database = service.database
    saved = await stack.enter_async_context(
        checkpoints.opened(
            settings.database_url.get_secret_value(), min(settings.run_concurrency, CHECKPOINT_CONNECTIONS)
        )
    )
    # No limit, because waiting for a connection would count against a request's time limit; each run asks one service
    # at a time.
    client = await stack.enter_async_context(service_client(max_idle=settings.run_concurrency))
    tokens, registry = app.state.tokens, app.state.metrics.registry
    check_models = _add_models(app, settings, stack)
    entailment = _entailment(settings, stack)
    images = _add_images(app, settings, stack)
    documents = IngestionService("ingestion", client, tokens, settings.ingestion_url, settings.document_timeout_seconds)
    _add_artifacts(app, settings, documents, stack)
    control = RunControl()
    turns = _turns(settings, tokens, client, saved, control, registry, app.state.model_source, entailment, images)
    queue = WorkQueue(database, RUNS, settings.run_lease_seconds)
    app.state.runs = store = RunStore(database, service.outbox, queue)
    await _add_streams(app, settings, stack)
    first_words = first_words_histogram(registry)

    def attempt(run: ClaimedRun) -> Attempt:
        events = RunEvents(redis, run.id, run.attempts, settings.run_stream_ttl)
        return Attempt(run, store, turns, saved, events, service.notifications, first_words)

    worker = run_worker(
        queue,
        service.notifications,
        attempt,
        settings.run_concurrency,
        registry,
        control.request_drain,
        settings.run_drain_seconds,
    )
    app.state.on_stop.append(worker.stop)
    ended = EndedRuns(database, redis, saved)
    app.state.eraser = SessionEraser(database, service.outbox, ended, app.state.artifact_indexing, images)
    consumer = DocumentConsumer(database, service.outbox)
    background = await stack.enter_async_context(
        service.running(
            {DOCUMENTS: consumer.handlers},
            before=[ended.delete_workspace, images.erase_workspace],
            after=[images.erase_workspace],
            together=consumer.together,
        )
    )
    background.start("worker", worker.run)
    background.start("roles", check_models)
    background.start("ended_runs", lambda: ended.run(app.state.eraser.erase_unused, images.erase_expired))
    app.state.metrics.readings.add("runs", ended.gauges)


def _add_models(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> Callable[[], Awaitable[None]]:
    """Adds the models and settings of workspaces; returns the check of the models by role."""
    database = app.state.database
    endpoints = Endpoints(
        failures=settings.chat_breaker_failures,
        reset_seconds=settings.chat_breaker_seconds,
        guarded=lambda: CheckedTransport(settings.provider_allowed_networks),
    )
    stack.push_async_callback(endpoints.aclose)
    listing = ModelListing(settings, endpoints)
    app.state.health.add_fact("models_missing", listing.missing_fact)
    configuration = ConfigurationStore(database, settings.seal, settings.provider_allowed_networks, listing)
    app.state.configuration, app.state.presets = configuration, PresetStore(configuration)
    limits = TokenLimits(
        settings.budget_run_tokens,
        settings.budget_user_tokens,
        settings.budget_key_tokens,
        settings.budget_workspace_tokens,
    )
    called = ModelMetrics((OPERATOR, settings.chat_model), app.state.metrics.registry)
    models = ModelSource(settings, endpoints, database, limits, configuration, called)
    app.state.model_source, app.state.models = models, Models(writes=models.is_configured)
    app.state.limits_of = models.limits_of
    return lambda: check_roles(settings, database, configuration, listing)


def _entailment(settings: Settings, stack: AsyncExitStack) -> EntailmentModel | None:
    # A chat model that compares sentences with sources has its own client, whose tokens are not metered.
    comparing = build_chat_model(settings) if settings.entailment_backend == "chat" else None
    if comparing is not None:
        stack.push_async_callback(comparing.aclose)
    entailment = build_entailment(settings, comparing)
    if entailment is not None:
        stack.push_async_callback(entailment.aclose)
    return entailment


def _add_images(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> ImageKeeping:
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    decoder = ImageDecoder(ImageLimits())
    stack.push_async_callback(decoder.aclose)
    app.state.images = images = ImageKeeping(app.state.database, objects, decoder)
    return images


def _add_artifacts(app: FastAPI, settings: Settings, documents: IngestionService, stack: AsyncExitStack) -> None:
    """Adds artifacts, and what attaches and shares."""
    database = app.state.database
    limits = ExportLimits(seconds=settings.export_seconds, memory_bytes=settings.export_memory_bytes)
    converter = DocumentConverter(limits, settings.exports_at_once)
    stack.push_async_callback(converter.aclose)
    app.state.artifact_exporting = ArtifactExporting(converter, documents)
    app.state.artifact_indexing = ArtifactIndexing(database, documents)
    app.state.artifacts = ArtifactEditing(database, documents, app.state.artifact_indexing)
    app.state.attachments = DocumentAttacher(database, documents)
    app.state.sharing = SessionSharing(database)


async def _add_streams(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    """Adds what follows runs, for clients of this API and of OpenAI's."""
    store: RunStore = app.state.runs
    followers = await stack.enter_async_context(
        Redis.from_url(**_connecting(settings), max_connections=settings.sse_max_streams + 16)
    )
    app.state.run_max_attempts = settings.run_max_attempts
    app.state.streams = streams = RunStreams(
        followers,
        store,
        ttl_seconds=settings.run_stream_ttl,
        heartbeat_seconds=settings.sse_heartbeat_seconds,
        max_streams=settings.sse_max_streams,
    )
    app.state.asking = OpenAIRuns(app.state.database, store, streams, settings.run_max_attempts, app.state.images)
    stack.push_async_callback(app.state.asking.aclose)


def _turns(
    settings: Settings,
    tokens: Tokens,
    client: httpx2.AsyncClient,
    saved: checkpoints.Checkpoints,
    control: RunControl,
    registry: CollectorRegistry,
    models: ModelSource,
    entailment: EntailmentModel | None,
    images: ImageKeeping,
) -> ConversationTurns:
    waiting = settings.document_timeout_seconds + settings.document_wait_seconds
    seconds = settings.search_timeout_seconds
    sentences = counter(
        "attractor_answer_sentences_total",
        "Sentences of answers, by their status",
        registry,
        status=[status.value for status in SentenceStatus],
    )
    retrieval = RetrievalService("retrieval", client, tokens, settings.retrieval_url, seconds)
    return ConversationTurns(
        conversation.build(),
        saved,
        retrieval,
        GraphService("knowledge-graph", client, tokens, settings.knowledge_graph_url, settings.graph_timeout_seconds),
        MemoryService("memory", client, tokens, settings.memory_url, settings.recall_timeout_seconds),
        models,
        Prompts.load(),
        TurnBudgets(
            settings.search_k,
            settings.passage_tokens,
            settings.history_tokens,
            settings.summary_tokens,
            settings.entailment_timeout_seconds,
            settings.document_wait_seconds,
            settings.rewrite_query,
        ),
        control,
        sentences,
        WordVectors().alike,
        ArtifactPrompts.load(),
        settings.routing,
        entailment,
        IngestionService("ingestion", client, tokens, settings.ingestion_url, waiting),
        images,
        MultilingualEncoder(retrieval),
    )


def writing_redis(settings: Settings) -> Redis:
    """Returns the client for everything but followers: callers wait for a free connection, so that no event is lost."""
    pool = BlockingConnectionPool.from_url(**_connecting(settings), max_connections=WRITING_CONNECTIONS)
    return Redis.from_pool(pool)


def _connecting(settings: Settings) -> dict[str, Any]:
    """Returns the options for connecting to Redis, whose reads may block for longer than a heartbeat."""
    return {
        "url": settings.redis_url.get_secret_value(),
        "socket_timeout": settings.sse_heartbeat_seconds + 10,
        "retry": Retry(ExponentialBackoff(cap=0.5, base=0.05), REDIS_RETRIES),
    }
