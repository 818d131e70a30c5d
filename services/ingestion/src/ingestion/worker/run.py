"""The Celery program around a worker."""

from __future__ import annotations

import logging
import os
import socket
import sys
import warnings
from contextlib import ExitStack
from typing import Any

from celery import signals
from celery.platforms import EX_OK, SecurityWarning
from celery.worker import state

from ingestion.queue.celery_app import QUEUES, SYNC_QUEUE, build_celery
from ingestion.worker.build import build_worker
from ingestion.worker.holding import Shutdown
from ingestion.worker.recycling import execute_anew
from ingestion.worker.settings import WorkerSettings
from ingestion.worker.tasks import register
from service_kit.telemetry import configure_telemetry

log = logging.getLogger(__name__)


def run_worker() -> None:
    """Blocks until SIGTERM or SIGINT, then gives running stages their grace and the rest back to the queue.

    A worker that is to be recycled ends what it holds, and executes itself anew: this call does not return then.
    """
    settings = WorkerSettings()
    configure_telemetry("ingestion-worker", settings.log_level, settings.otel_exporter_otlp_endpoint)
    _quieten()
    shutdown = Shutdown(settings.worker_shutdown_seconds)
    with ExitStack() as stack:
        built = build_worker(settings, shutdown, _stop_consuming, stack)
        celery = build_celery(settings.redis_url.get_secret_value())
        register(celery, built.slots.serve, built.syncs.serve)
        _connect(settings, shutdown)
        # Threads suffice: the heavy work is done in processes of its own, which can be limited and killed, and the
        # model releases the interpreter's lock while it computes.
        worker = celery.Worker(
            hostname=f"ingestion@{socket.gethostname()}-{os.getpid()}",
            pool="threads",
            concurrency=settings.worker_concurrency + 2,
            queues=[*QUEUES.values(), SYNC_QUEUE],
            without_gossip=True,
            without_mingle=True,
            quiet=True,
            loglevel=settings.log_level.upper(),
        )
        worker.start()
        log.info("stopped")
    if built.recycling.is_due and not shutdown.has_begun:
        execute_anew()
    sys.exit(worker.exitcode)


def _stop_consuming() -> None:
    """As on SIGTERM, but for the grace: Celery takes nothing more and waits for its threads."""
    state.should_stop = EX_OK


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
