"""The composition root of a worker."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from inference.factory import build_embedders
from ingestion.conversion import Converter
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.intake import Intake
from ingestion.documents.stages import stage_work
from ingestion.documents.workers import BESIDE_BULK
from ingestion.sources.sync import Synchroniser, SyncPolicy
from ingestion.sources.syncs import sync_work
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import TextEmbedder, running_loop
from ingestion.worker.health import SignsOfLife, serve_inside
from ingestion.worker.holding import Shutdown
from ingestion.worker.metrics import WorkerMetrics, WorkerReadings
from ingestion.worker.process import Processor
from ingestion.worker.queue import StageQueue
from ingestion.worker.recording import ProcessingPolicy
from ingestion.worker.registration import Registration
from ingestion.worker.settings import WorkerSettings
from ingestion.worker.slots import ALL_LANES, Slots
from ingestion.worker.stages import StageRecords
from ingestion.worker.syncs import SyncThread
from ingestion.worker.vectors import VectorMaker
from ingestion.worker.walls import WallReport
from service_kit.embedding_metrics import EmbeddingMetrics
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.own_folder import own_folder
from service_kit.postgres import Database
from service_kit.work import WorkQueue

SOURCE = "ingestion"
SYNC_CONNECTIONS = 6


@dataclass(frozen=True)
class DocumentWorker:
    """The parts of a worker that its tasks call."""

    slots: Slots
    syncs: SyncThread


def build_worker(settings: WorkerSettings, shutdown: Shutdown, signs: SignsOfLife, stack: ExitStack) -> DocumentWorker:
    """Builds everything a worker needs; the stack closes it in reverse order."""
    folder = stack.enter_context(own_folder(settings.work_folder, "work-"))
    settings = settings.model_copy(update={"work_folder": folder})
    url = settings.database_url.get_secret_value()
    # One connection per thread that processes documents, and one for the registration.
    connections = settings.worker_concurrency + BESIDE_BULK + 1
    database = WorkerDatabase(url, connections)
    stack.enter_context(database.opened())
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    name, metrics = f"{socket.gethostname()}-{os.getpid()}", WorkerMetrics()
    stages = StageRecords(database, name)
    embedders = build_embedders(settings, watch=EmbeddingMetrics(metrics.registry).of("documents"))
    conversion = settings.conversion(embedders.default.space)
    converter = stack.enter_context(Converter(conversion, settings.work_folder, settings.converter_socket))
    walls = WallReport(lambda: converter.walls)
    loop = stack.enter_context(running_loop("embedding"))
    vectors = VectorMaker(database, objects, TextEmbedder(embedders, loop))

    def is_closed() -> bool:
        return shutdown.has_begun

    leases = stack.enter_context(running_loop("leases"))
    pool = open_pool(url, connections, leases, stack)
    work = WorkQueue(pool, stage_work(settings.max_losses), settings.lease_seconds, name)
    queue = StageQueue(work, leases, stages, is_closed)
    processor = Processor(queue, objects, converter, vectors, shutdown, _policy(settings), metrics)
    slots = Slots(settings.worker_concurrency, queue.take, processor.process)
    syncs = _syncs(settings, name, objects, is_closed, stack)
    stack.enter_context(
        Registration(
            database,
            name,
            settings.worker_concurrency,
            settings.lease_seconds,
            lambda: slots.documents,
            lambda: walls.found,
        )
    )
    if settings.private_port is not None:
        metrics.registry.register(
            WorkerReadings(lambda: [*((lane.value, slots.busy(lane)) for lane in ALL_LANES), ("sync", syncs.busy)])
        )
        place = settings.private_host, settings.private_port
        serve_inside(metrics.registry, signs, *place, stack, settings.private_port_fd)
    return DocumentWorker(slots, syncs)


def _policy(settings: WorkerSettings) -> ProcessingPolicy:
    return ProcessingPolicy(
        settings.limits,
        settings.max_losses,
        settings.max_postponements,
        settings.embed_max_postponements,
        settings.work_folder,
    )


def _syncs(
    settings: WorkerSettings, name: str, objects: ObjectStore, is_closed: Callable[[], bool], stack: ExitStack
) -> SyncThread:
    loop = stack.enter_context(running_loop("syncs"))
    database = open_pool(settings.database_url.get_secret_value(), SYNC_CONNECTIONS, loop, stack)
    limits = IntakeLimits(
        settings.max_file_bytes,
        settings.max_queued_bytes,
        settings.workspace_max_documents,
        settings.workspace_max_bytes,
    )
    synchroniser = Synchroniser(
        database,
        Intake(database, objects, Outbox(SOURCE), limits),
        WorkQueue(database, sync_work(settings.max_losses), settings.lease_seconds, name),
        settings,
        SyncPolicy(settings.max_postponements, settings.max_file_bytes, settings.work_folder),
        is_closed,
    )
    return SyncThread(synchroniser, loop)


def open_pool(url: str, size: int, loop: asyncio.AbstractEventLoop, stack: ExitStack) -> Database:
    """Opens a pool on another thread's event loop; the stack closes it."""
    opened = Database(url, size).opened()
    database = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result()
    stack.callback(lambda: asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result())
    return database
