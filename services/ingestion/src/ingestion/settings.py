"""Settings of the API process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import Field

from ingestion.converter_settings import SandboxSettings
from ingestion.sources.settings import ScheduleSettings, SourceSettings
from ingestion.uploads.archives import ArchiveLimits
from service_kit.settings import (
    ConsumerSettings,
    DatabaseSettings,
    Environment,
    ObjectStoreSettings,
    ServiceSettings,
    TokenSettings,
)

MEBIBYTE = 1024 * 1024


class LeaseSettings(DatabaseSettings):
    """How long a worker keeps a stage without renewing its lease."""

    lease_seconds: float = Field(default=20.0, gt=0)
    """A worker loses its lease if it does not renew it for this long; must be equal in API and workers"""


class QuotaSettings(Environment):
    """What each workspace may store; 0: no limit."""

    workspace_max_documents: int = Field(default=0, ge=0)
    """Documents of one workspace; must be equal in API and workers"""
    workspace_max_bytes: int = Field(default=0, ge=0)
    """Bytes of the originals of one workspace's documents; must be equal in API and workers"""


class IntakeSettings(Environment):
    """What the API accepts."""

    max_file_bytes: int = Field(default=200 * MEBIBYTE, gt=0)
    """The largest file that is accepted"""
    max_queued_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)
    """Bytes that may wait for conversion in one workspace, separately for uploads and for sources"""


class Settings(
    ServiceSettings,
    LeaseSettings,
    ConsumerSettings,
    ObjectStoreSettings,
    SourceSettings,
    ScheduleSettings,
    IntakeSettings,
    QuotaSettings,
    SandboxSettings,
):
    """The API process. Sizes in bytes, times in seconds."""

    port: int = 8002
    workspace_max_sources: int = Field(default=0, ge=0)
    """Sources of one workspace; 0: no limit"""
    max_archive_files: int = Field(default=5000, gt=0)
    """Files that one archive may contain"""
    max_archive_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)
    """Bytes that one archive may expand to"""
    max_archive_ratio: int = Field(default=200, gt=0)
    """Expanded bytes per byte of an archive"""
    max_files_per_upload: int = Field(default=1000, gt=0)
    """Files in one request"""
    upload_folder: Path = Path(tempfile.gettempdir())
    """Where each process keeps one file per running upload, and one file of its archive, in a folder of its own"""
    reannounce_after_seconds: float = Field(
        default=30.0, gt=0, description="Time after which an event without effect is treated as lost"
    )
    max_losses: int = Field(default=3, gt=0, description="Worker crashes before a document fails")
    worker_target_seconds: float = Field(
        default=60.0, gt=0, description="Time that work may wait before more workers are wanted, for autoscaling"
    )

    @property
    def archive_limits(self) -> ArchiveLimits:
        return ArchiveLimits(
            self.max_archive_files, self.max_archive_bytes, self.max_archive_ratio, self.max_file_bytes
        )


class ReconcileSettings(TokenSettings, DatabaseSettings, ObjectStoreSettings):
    """Settings of `python -m ingestion reconcile`."""

    retrieval_url: str
    knowledge_graph_url: str
    settled_after_seconds: float = Field(default=300.0, ge=0)
    """Changes more recent than this may still be in progress and are not compared"""
