"""Runs a worker as a Celery program."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import warnings
from contextlib import ExitStack
from typing import Any

from celery import signals
from celery.platforms import SecurityWarning

from ingestion.documents.workers import BESIDE_BULK
from ingestion.queue.celery_app import QUEUES, SYNC_QUEUE, build_celery
from ingestion.worker.build import build_worker
from ingestion.worker.health import SignsOfLife
from ingestion.worker.holding import Shutdown
from ingestion.worker.settings import WorkerSettings
from ingestion.worker.tasks import register
from service_kit.sandbox import refuse_inspection
from service_kit.schema import require_schema
from service_kit.telemetry import configure_telemetry

log = logging.getLogger(__name__)


def run_worker() -> None:
    """Blocks until SIGTERM or SIGINT, then waits the grace period and returns unfinished stages to the queue.

    Raises SchemaUnfit, and Unavailable if the database does not answer.
    """
    settings = WorkerSettings()
    configure_telemetry("ingestion-worker", settings.log_level, settings.otel_exporter_otlp_endpoint)
    asyncio.run(require_schema(settings, "ingestion"))
    _quieten()
    refuse_inspection()
    shutdown, signs = Shutdown(settings.worker_shutdown_seconds), SignsOfLife()
    with ExitStack() as stack:
        built = build_worker(settings, shutdown, signs, stack)
        celery = build_celery(settings.redis_url.get_secret_value())
        register(celery, built.slots.serve, built.syncs.serve)
        _connect(shutdown, signs)
        # Threads are enough: conversions run in separate processes that can be limited and killed, and the embedding
        # model releases the GIL while it computes.
        worker = celery.Worker(
            hostname=f"ingestion@{socket.gethostname()}-{os.getpid()}",
            pool="threads",
            concurrency=settings.worker_concurrency + BESIDE_BULK + 1,
            queues=[*QUEUES.values(), SYNC_QUEUE],
            without_gossip=True,
            without_mingle=True,
            quiet=True,
            loglevel=settings.log_level,
        )
        worker.start()
        log.info("worker stopped")
    sys.exit(worker.exitcode)


def _connect(shutdown: Shutdown, signs: SignsOfLife) -> None:
    """Connects handlers to Celery's signals."""

    def on_setup_logging(**_: Any) -> None:
        """Does nothing; being connected, it keeps Celery from configuring logging."""

    def on_shutdown(**_: Any) -> None:
        shutdown.begin()

    def on_heartbeat(**_: Any) -> None:
        signs.give()

    signals.setup_logging.connect(on_setup_logging, weak=False)
    signals.worker_shutting_down.connect(on_shutdown, weak=False)
    signals.heartbeat_sent.connect(on_heartbeat, weak=False)


def _quieten() -> None:
    # Celery warns about running as root, but our messages are JSON and carry no code. The processor logs each task.
    warnings.simplefilter("ignore", SecurityWarning)
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).setLevel(logging.WARNING)
