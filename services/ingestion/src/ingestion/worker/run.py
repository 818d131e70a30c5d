"""The composition root of a worker, and the Celery program around it."""

from __future__ import annotations

import logging
import os
import socket
import sys
import warnings
from contextlib import ExitStack
from typing import Any
from uuid import UUID

from celery import Celery, signals
from celery.platforms import SecurityWarning
from opentelemetry.trace import SpanKind

from inference.factory import build_embedder
from ingestion.celery_app import QUEUE, TASK, build_celery
from ingestion.conversion import Converter
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import ChunkEmbedder, running_loop
from ingestion.worker.holding import Shutdown
from ingestion.worker.process import Policy, Processor
from ingestion.worker.settings import WorkerSettings
from ingestion.worker.stages import Stages
from service_kit.objects import ObjectStore
from service_kit.telemetry import configure_telemetry
from service_kit.tracing import span

log = logging.getLogger(__name__)


def build_processor(settings: WorkerSettings, shutdown: Shutdown, stack: ExitStack) -> Processor:
    """Everything that a worker needs, closed with the stack in reverse order."""
    database = WorkerDatabase(settings.database_url.get_secret_value(), 2 * settings.worker_concurrency + 1)
    stack.enter_context(database.opened())
    objects = ObjectStore(settings)
    stack.callback(objects.close)
    embedder = build_embedder(settings)
    loop = stack.enter_context(running_loop())
    converter = stack.enter_context(Converter(settings.conversion(embedder.space)))
    policy = Policy(
        settings.limits,
        settings.max_losses,
        settings.max_postponements,
        settings.lease_seconds,
        settings.work_folder,
    )
    stages = Stages(database, f"{socket.gethostname()}-{os.getpid()}")
    return Processor(stages, objects, converter, ChunkEmbedder(embedder, loop), shutdown, policy)


def run_worker() -> None:
    """Blocks until SIGTERM or SIGINT, then gives running stages their grace and the rest back to the queue."""
    settings = WorkerSettings()
    configure_telemetry("ingestion-worker", settings.log_level, settings.otel_exporter_otlp_endpoint)
    _quieten()
    shutdown = Shutdown(settings.worker_shutdown_seconds)
    with ExitStack() as stack:
        processor = build_processor(settings, shutdown, stack)
        celery = build_celery(settings.redis_url.get_secret_value())
        register(celery, processor)
        _connect(settings, shutdown)
        # Threads suffice: the heavy work is done in a process of its own, which can be limited and killed, and the
        # model releases the interpreter's lock while it computes.
        worker = celery.Worker(
            hostname=f"ingestion@{socket.gethostname()}-{os.getpid()}",
            pool="threads",
            concurrency=settings.worker_concurrency,
            queues=[QUEUE],
            without_gossip=True,
            without_mingle=True,
            quiet=True,
            loglevel=settings.log_level.upper(),
        )
        worker.start()
        log.info("stopped")
    sys.exit(worker.exitcode)


def register(celery: Celery, processor: Processor) -> None:
    """Defines the task on the application."""

    @celery.task(name=TASK)  # type: ignore[untyped-decorator]
    def process_document(workspace_id: str, document_id: str, traceparent: str | None = None) -> None:
        carrier = {"traceparent": traceparent} if traceparent else None
        with span(TASK, carrier, SpanKind.CONSUMER):
            processor.process(UUID(workspace_id), UUID(document_id))


def _connect(settings: WorkerSettings, shutdown: Shutdown) -> None:
    """Celery's signals to our functions."""

    def on_setup_logging(**_: Any) -> None:
        """Its presence tells Celery to leave logging alone."""

    def on_shutdown(**_: Any) -> None:
        shutdown.begin()

    def on_heartbeat(**_: Any) -> None:
        settings.worker_health_file.touch()

    signals.setup_logging.connect(on_setup_logging, weak=False)
    signals.worker_shutting_down.connect(on_shutdown, weak=False)
    signals.heartbeat_sent.connect(on_heartbeat, weak=False)


def _quieten() -> None:
    # Of root: messages are JSON and name one task, they carry no code. Of every task: the processor logs what it did.
    warnings.simplefilter("ignore", SecurityWarning)
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).setLevel(logging.WARNING)
