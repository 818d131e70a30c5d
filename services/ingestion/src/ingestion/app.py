"""The composition root of the API process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from redis.asyncio import Redis

from contracts.events import DOCUMENTS
from ingestion.api import DOCUMENT_CHANNEL, WORK_CHANNEL, Parts, router
from ingestion.celery_app import build_celery
from ingestion.consumer import GROUP, DocumentEvents
from ingestion.dispatch import Dispatcher
from ingestion.erasure import Eraser
from ingestion.intake import Intake, Limits
from ingestion.queue_metrics import QueueMetrics
from ingestion.reading_api import router as reading_router
from ingestion.recovery import Recovery
from ingestion.settings import Settings
from ingestion.sources.api import router as sources_router
from ingestion.sources.syncs_api import router as syncs_router
from ingestion.upload import Uploads
from service_kit.app import service_app
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox, OutboxRelay, keep_forgetting
from service_kit.postgres import Database
from service_kit.streams import Consumer

NAME, SCHEMA = "ingestion", "ingestion"
QUEUE_CHANNEL = f"{SCHEMA}_queue"


def create_app(settings: Settings) -> FastAPI:
    """The API with its background tasks: relay, consumer, dispatcher, eraser, housekeeping."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Closed in reverse: background tasks first, then what they use.
        async with AsyncExitStack() as stack:
            await _build(app, settings, stack)
            yield

    return service_app(NAME, settings, [router, reading_router, sources_router, syncs_router], lifespan)


async def _build(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    metrics, health = app.state.metrics, app.state.health
    database_url, redis_url = settings.database_url.get_secret_value(), settings.redis_url.get_secret_value()
    database = await stack.enter_async_context(Database(database_url, settings.database_pool_size).opened())
    redis = await stack.enter_async_context(Redis.from_url(redis_url))
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    await asyncio.to_thread(objects.ensure_bucket)
    celery = build_celery(redis_url)
    stack.callback(celery.close)
    outbox = Outbox(NAME)
    notifications = Notifications(database_url, DOCUMENT_CHANNEL, WORK_CHANNEL, QUEUE_CHANNEL, f"{SCHEMA}_outbox")
    intake = Intake(database, objects, outbox, Limits(settings.max_file_bytes, settings.max_queued_bytes))
    uploads = Uploads(intake, settings.archive_limits, settings.upload_folder)
    app.state.ingestion = Parts(settings, database, objects, outbox, notifications, uploads)

    background = await stack.enter_async_context(Background(metrics))
    background.start("notifications", notifications.run)
    background.start("outbox", OutboxRelay(database, redis, notifications, metrics, SCHEMA).run)
    background.start("events", Consumer(redis, DOCUMENTS, GROUP, DocumentEvents(database).handlers, metrics).run)
    recovery = Recovery(database, redis, outbox, settings)
    queue_metrics = QueueMetrics(metrics.registry, database, settings.lease_seconds)
    dispatcher = Dispatcher(
        database, redis, celery, notifications, QUEUE_CHANNEL, settings.lease_seconds, recovery, queue_metrics
    )
    background.start("dispatcher", dispatcher.run)
    background.start("eraser", Eraser(database, objects, notifications, WORK_CHANNEL, settings.lease_seconds).run)
    background.start("housekeeping", lambda: keep_forgetting(database))
    health.add("database", database.check)
    health.add("redis", redis.ping)
    health.add("object_store", objects.check)
    health.add("background", background.check)
