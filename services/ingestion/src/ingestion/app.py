"""The composition root of the API process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from fastapi import FastAPI

from contracts.events import DOCUMENTS
from ingestion.api.artifact_documents import router as artifact_documents_router
from ingestion.api.documents import router
from ingestion.api.internal import router as internal_router
from ingestion.api.parts import DOCUMENT_CHANNEL, WORK_CHANNEL, ApiParts
from ingestion.api.quota import router as quota_router
from ingestion.api.reading import router as reading_router
from ingestion.api.sources import router as sources_router
from ingestion.api.syncs import router as syncs_router
from ingestion.documents.catalog import Catalogs
from ingestion.documents.consumer import GROUP, DocumentEvents
from ingestion.documents.deletion_job import DeletionJob, delete_workspace_objects
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.intake import Intake
from ingestion.documents.workers import walls_of_workers
from ingestion.queue.celery_app import build_celery
from ingestion.queue.dispatch import Dispatcher
from ingestion.queue.metrics import QueueMetrics
from ingestion.queue.recovery import Recovery
from ingestion.queue.scaling import Scaling
from ingestion.settings import Settings
from ingestion.sources.administrator import AdministratorEvents
from ingestion.sources.scheduler import Scheduler
from ingestion.sources.watch import SOURCE_CHANNEL, FolderWatcher
from ingestion.uploads.archives.expansion import Expander
from ingestion.uploads.upload import Uploads
from service_kit.app import service_app
from service_kit.event_service import EventService
from service_kit.objects import ObjectStore
from service_kit.own_folder import own_folder
from service_kit.workspace_purge import Erased

NAME = "ingestion"
QUEUE_CHANNEL = f"{NAME}_queue"


def create_app(settings: Settings) -> FastAPI:
    """Builds the API with its background tasks: relay, consumer, dispatcher, deletion, scheduler, housekeeping."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Closed in reverse order: background tasks before the things they use.
        async with AsyncExitStack() as stack:
            await _build(app, settings, stack)
            yield

    routers = [
        router,
        reading_router,
        sources_router,
        syncs_router,
        quota_router,
        internal_router,
        artifact_documents_router,
    ]
    return service_app(NAME, settings, routers, lifespan)


async def _build(app: FastAPI, settings: Settings, stack: AsyncExitStack) -> None:
    service = await stack.enter_async_context(
        EventService.opened(app, settings, GROUP, [DOCUMENT_CHANNEL, WORK_CHANNEL, QUEUE_CHANNEL, SOURCE_CHANNEL])
    )
    database, redis, outbox, notifications = service.database, service.redis, service.outbox, service.notifications
    folder = stack.enter_context(own_folder(settings.upload_folder, "uploads-"))
    settings = settings.model_copy(update={"upload_folder": folder})
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    await asyncio.to_thread(objects.ensure_bucket)
    celery = build_celery(settings.redis_url.get_secret_value())
    stack.callback(celery.close)
    catalogs = Catalogs(database, outbox)
    limits = IntakeLimits(
        settings.max_file_bytes,
        settings.max_queued_bytes,
        settings.workspace_max_documents,
        settings.workspace_max_bytes,
    )
    intake = Intake(database, objects, outbox, limits)
    archives = Expander(settings.archive_limits, settings.upload_folder, settings.converter_socket)
    stack.callback(archives.close)
    uploads = Uploads(intake, archives)
    scaling = Scaling(database, settings.lease_seconds, settings.worker_target_seconds)
    app.state.ingestion = ApiParts(settings, catalogs, objects, notifications, uploads, scaling.wanted)
    app.state.health.add("object_store", objects.check)
    app.state.health.add_fact("walls", lambda: walls_of_workers(database, settings.lease_seconds))

    async def purge(workspace_id: UUID) -> Erased:
        removed, remaining = await delete_workspace_objects(objects, workspace_id)
        return Erased({"objects": removed}, {"objects": remaining})

    events = DocumentEvents(catalogs)
    handlers = {**events.handlers, **AdministratorEvents(database).handlers}
    running = service.running({DOCUMENTS: handlers}, after=[purge], together=events.together)
    background = await stack.enter_async_context(running)
    recovery = Recovery(catalogs, redis, settings)
    queue_metrics = QueueMetrics(app.state.metrics.registry, database, settings.lease_seconds, scaling)
    dispatcher = Dispatcher(
        database, redis, celery, notifications, QUEUE_CHANNEL, settings.lease_seconds, recovery, queue_metrics
    )
    background.start("dispatcher", dispatcher.run)
    deletion = DeletionJob(catalogs, objects, notifications, WORK_CHANNEL)
    background.start("deletion", deletion.run)
    if settings.schedule_sources:
        background.start("scheduler", Scheduler(database, settings.schedule_seconds).run)
        background.start("watcher", FolderWatcher(database, notifications, settings, settings).run)
