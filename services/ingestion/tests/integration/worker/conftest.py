"""Fixtures: workers as deployed, in separate processes with Celery, Docling and the bundled model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from api_calls import REPOSITORY

from ingestion.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"max_file_bytes": 50_000_000, "lease_seconds": 6.0})


class WorkerProcesses:
    """Starts workers, and kills them with their children at the end."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment, self.folder = environment, folder
        self.port = environment["PRIVATE_PORT"]
        self.log = folder / "worker.log"

    @contextmanager
    def started(self, **more: str) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a worker with `more` in its environment."""
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "ingestion", "worker"]
            process = subprocess.Popen(command, env=self.environment | more, stdout=log, stderr=log)
        try:
            yield process
        finally:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.kill()
                process.kill()
            process.wait()

    def is_healthy(self) -> bool:
        """Runs the health check of the container."""
        return subprocess.run([REPOSITORY / "infra" / "docker" / "healthy", self.port]).returncode == 0


@pytest.fixture
def workers(settings: Settings, own_redis_url: Any, tmp_path: Path, unused_port: int) -> WorkerProcesses:
    work = tmp_path / "work"
    work.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "REDIS_URL": own_redis_url("ingestion-worker"),
        "S3_ENDPOINT": settings.s3_endpoint,
        "S3_ACCESS_KEY": settings.s3_access_key,
        "S3_SECRET_KEY": settings.s3_secret_key.get_secret_value(),
        "S3_BUCKET": settings.s3_bucket,
        "LEASE_SECONDS": "6",
        "WORKER_SHUTDOWN_SECONDS": "1",
        "WORK_FOLDER": str(work),
        "PRIVATE_PORT": str(unused_port),
    }
    return WorkerProcesses(environment, tmp_path)


@pytest.fixture
def worker(workers: WorkerProcesses) -> Iterator[subprocess.Popen[bytes]]:
    with workers.started() as process:
        yield process
