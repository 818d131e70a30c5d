"""The worker's health: a file that it touches whenever it is in touch with the broker."""

from __future__ import annotations

import sys
import time

from ingestion.worker.settings import WorkerSettings

HEALTHY_SECONDS = 30.0


def check_worker() -> None:
    """Exits with 1 when the worker of this container has not been in touch with the broker for a while."""
    try:
        age = time.time() - WorkerSettings().worker_health_file.stat().st_mtime
    except FileNotFoundError:
        age = float("inf")
    if age > HEALTHY_SECONDS:
        sys.stderr.write("the worker shows no sign of life\n")
        sys.exit(1)
