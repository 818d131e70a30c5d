"""The environment of a worker."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import Field

from inference.settings import EmbeddingSettings
from ingestion.conversion import Limits
from ingestion.settings import MEBIBYTE, LeaseSettings
from service_kit.settings import ObjectStoreSettings, RedisSettings


class WorkerSettings(LeaseSettings, RedisSettings, ObjectStoreSettings, EmbeddingSettings):
    """`work_folder` holds, per running document, its original and what is made of it.

    `worker_shutdown_seconds`: what a stage may still use after SIGTERM; then it goes back to the queue. It must be
    shorter than the time after which the process is killed (Compose: 10 seconds).
    """

    log_level: str = "INFO"
    otel_exporter_otlp_endpoint: str | None = None
    worker_concurrency: int = Field(default=2, gt=0)
    worker_shutdown_seconds: float = Field(default=6.0, ge=0)
    worker_health_file: Path = Path(tempfile.gettempdir()) / "attractor-ingestion-worker.alive"
    work_folder: Path = Path(tempfile.gettempdir())
    convert_threads: int = Field(default=2, gt=0)
    convert_seconds: float = Field(default=600.0, gt=0)
    convert_memory_mib: int = Field(default=2048, gt=0)
    convert_pages: int = Field(default=5000, gt=0)
    max_file_bytes: int = Field(default=200 * MEBIBYTE, gt=0)
    max_losses: int = Field(default=3, gt=0, description="Processes that a document may take down before it fails")
    max_postponements: int = Field(default=8, gt=0, description="Tries while a store or a provider is away")

    @property
    def limits(self) -> Limits:
        return Limits(self.convert_seconds, self.convert_memory_mib * MEBIBYTE, self.convert_pages, self.max_file_bytes)
