"""The composition root: builds everything, and closes it in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from fastapi import FastAPI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from contracts.events import DOCUMENTS
from inference.factory import build_chat_model
from orchestrator import checkpoints
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.context import Limits, Prompts
from orchestrator.graphs.conversation.turn import ConversationTurns
from orchestrator.runs import api as runs_api
from orchestrator.runs.attempt import Attempt
from orchestrator.runs.ended import EndedRuns
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import ClaimedRun
from orchestrator.runs.store import CANCELLED, QUEUED, RunStore
from orchestrator.runs.streams import RunStreams
from orchestrator.runs.worker import Worker
from orchestrator.services import HttpMemory, HttpRetrieval
from orchestrator.sessions import api as sessions_api
from orchestrator.sessions.documents import SessionDocuments
from orchestrator.sessions.store import SessionStore
from orchestrator.settings import Settings
from service_kit.app import service_app
from service_kit.auth import Tokens
from service_kit.event_service import EventService

NAME = "orchestrator"
REDIS_RETRIES = 3


def create_app(settings: Settings) -> FastAPI:
    """The service with its worker: a process serves requests and works off runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await _build(app, settings, stack)
            yield

    return service_app(NAME, settings, [sessions_api.router, runs_api.router], lifespan)


async def _build(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    redis = _redis(settings, None)
    service = await stack.enter_async_context(EventService.opened(app, settings, NAME, [QUEUED, CANCELLED], redis))
    saver = await stack.enter_async_context(
        checkpoints.opened(settings.database_url.get_secret_value(), settings.run_concurrency)
    )
    followers = await stack.enter_async_context(_redis(settings, settings.sse_max_streams + 16))
    store = RunStore(service.database, service.outbox, settings.run_lease_seconds)
    turns = await _turns(settings, app.state.tokens, saver, stack)

    def attempt(run: ClaimedRun) -> Attempt:
        events = RunEvents(redis, run.id, run.attempts, settings.run_stream_ttl)
        return Attempt(run, store, turns, saver, events, service.notifications)

    worker = Worker(store, service.notifications, attempt, settings.run_concurrency, app.state.metrics.registry)
    app.state.sessions = SessionStore(service.database, settings.run_max_attempts)
    app.state.session_documents = attached = SessionDocuments(service.database, service.outbox)
    app.state.runs = store
    app.state.streams = RunStreams(
        followers,
        store,
        ttl_seconds=settings.run_stream_ttl,
        heartbeat_seconds=settings.sse_heartbeat_seconds,
        max_streams=settings.sse_max_streams,
    )
    ended = EndedRuns(service.database, redis, saver)
    background = await stack.enter_async_context(
        service.running({DOCUMENTS: attached.handlers}, before=[ended.erase], after=[ended.sweep])
    )
    background.start("worker", worker.run)
    background.start("ended_runs", ended.run)


async def _turns(
    settings: Settings, tokens: Tokens, saver: AsyncPostgresSaver, stack: AsyncExitStack
) -> ConversationTurns:
    client = await stack.enter_async_context(httpx2.AsyncClient())
    chat = build_chat_model(settings)
    if chat is not None:
        stack.push_async_callback(chat.aclose)
    return ConversationTurns(
        conversation.build(saver),
        HttpRetrieval("retrieval", client, settings.retrieval_url, tokens, settings.search_timeout_seconds),
        HttpMemory("memory", client, settings.memory_url, tokens, settings.recall_timeout_seconds),
        chat,
        Prompts.load(),
        Limits(settings.search_k, settings.passage_tokens, settings.history_tokens),
    )


def _redis(settings: Settings, max_connections: int | None) -> Redis:
    """Reads may block for as long as a heartbeat takes, and longer than any timeout of the socket should."""
    timeout = settings.sse_heartbeat_seconds + 10
    return Redis.from_url(
        settings.redis_url.get_secret_value(),
        max_connections=max_connections,
        socket_timeout=timeout,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), REDIS_RETRIES),
    )
