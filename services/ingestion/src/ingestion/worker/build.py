"""The composition root of a worker."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from inference.factory import build_embedders
from ingestion.conversion import Converter
from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.intake import Intake
from ingestion.sources.sync import Synchroniser, SyncPolicy
from ingestion.sources.syncs import sync_work
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import TextEmbedder, running_loop
from ingestion.worker.holding import Shutdown
from ingestion.worker.metrics import Readings, WorkerMetrics, serve_metrics
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
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.own_folder import own_folder
from service_kit.postgres import Database
from service_kit.work import WorkQueue

T = TypeVar("T")
SOURCE = "ingestion"
SYNC_CONNECTIONS = 6


@dataclass(frozen=True)
class DocumentWorker:
    """What the tasks call."""

    slots: Slots
    syncs: SyncThread


def build_worker(settings: WorkerSettings, shutdown: Shutdown, stack: ExitStack) -> DocumentWorker:
    """Builds everything that a worker needs; closed with the stack in reverse order."""
    folder = stack.enter_context(own_folder(settings.work_folder, "work-"))
    settings = settings.model_copy(update={"work_folder": folder})
    # Two connections per document (its heartbeat has one), and one each for the registration and the choice.
    database = WorkerDatabase(settings.database_url.get_secret_value(), 2 * (settings.worker_concurrency + 1) + 2)
    stack.enter_context(database.opened())
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    name, metrics = f"{socket.gethostname()}-{os.getpid()}", WorkerMetrics()
    stages = StageRecords(database, name)
    embedders = build_embedders(settings)
    converter = stack.enter_context(Converter(settings.conversion(embedders.default.space), settings.work_folder))
    walls = WallReport(lambda: converter.walls)
    loop = stack.enter_context(running_loop("embedding"))
    vectors = VectorMaker(database, objects, TextEmbedder(embedders, loop))
    processor = Processor(stages, objects, converter, vectors, shutdown, _policy(settings), metrics)

    def is_closed() -> bool:
        return shutdown.has_begun

    queue = StageQueue(database, stages, is_closed)
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
            Readings(lambda: [*((lane.value, slots.busy(lane)) for lane in ALL_LANES), ("sync", syncs.busy)])
        )
        serve_metrics(metrics.registry, settings.private_host, settings.private_port, stack)
    return DocumentWorker(slots, syncs)


def _policy(settings: WorkerSettings) -> ProcessingPolicy:
    return ProcessingPolicy(
        settings.limits,
        settings.max_losses,
        settings.max_postponements,
        settings.embed_max_postponements,
        settings.lease_seconds,
        settings.work_folder,
    )


def _syncs(
    settings: WorkerSettings, name: str, objects: ObjectStore, is_closed: Callable[[], bool], stack: ExitStack
) -> SyncThread:
    loop = stack.enter_context(running_loop("syncs"))
    opened = Database(settings.database_url.get_secret_value(), SYNC_CONNECTIONS).opened()
    database = stack.enter_context(_entered(opened, loop))
    limits = IntakeLimits(settings.max_file_bytes, settings.max_queued_bytes)
    synchroniser = Synchroniser(
        database,
        Intake(database, objects, Outbox(SOURCE), limits),
        WorkQueue(database, sync_work(settings.max_losses), settings.lease_seconds, name),
        settings,
        SyncPolicy(settings.max_postponements, settings.max_file_bytes, settings.work_folder),
        is_closed,
    )
    return SyncThread(synchroniser, loop)


@contextmanager
def _entered(opened: AbstractAsyncContextManager[T], loop: asyncio.AbstractEventLoop) -> Iterator[T]:
    """Enters and leaves an asynchronous context on another thread's loop."""
    value = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result()
    try:
        yield value
    finally:
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result()
