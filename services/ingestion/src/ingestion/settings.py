"""The environment of the API process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import Field, SecretStr

from ingestion.sources.settings import SourceSettings
from ingestion.uploads.archives import ArchiveLimits
from service_kit.settings import DatabaseSettings, Environment, EventSettings, ObjectStoreSettings, ServiceSettings

MEBIBYTE = 1024 * 1024


class LeaseSettings(DatabaseSettings):
    """`lease_seconds`: a worker that shows no sign of life for so long has lost its stage. Equal in API and worker."""

    lease_seconds: float = Field(default=20.0, gt=0)


class IntakeSettings(Environment):
    """`max_queued_bytes`: what may wait for conversion in a workspace, of uploads and of sources each."""

    max_file_bytes: int = Field(default=200 * MEBIBYTE, gt=0)
    max_queued_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)


class Settings(ServiceSettings, LeaseSettings, EventSettings, ObjectStoreSettings, SourceSettings, IntakeSettings):
    """`upload_folder` holds one file per running upload, and one of an archive that is taken apart.

    `max_archive_…`: what one archive may expand to; `ratio` in bytes per byte of it.
    """

    port: int = 8002
    max_archive_files: int = Field(default=5000, gt=0)
    max_archive_bytes: int = Field(default=2048 * MEBIBYTE, gt=0)
    max_archive_ratio: int = Field(default=200, gt=0)
    max_files_per_upload: int = Field(default=1000, gt=0)
    upload_folder: Path = Path(tempfile.gettempdir())
    reannounce_after_seconds: float = Field(default=30.0, gt=0, description="Before a lost event is looked for")
    max_losses: int = Field(default=3, gt=0, description="Workers that a document may take down before it fails")

    @property
    def archive_limits(self) -> ArchiveLimits:
        return ArchiveLimits(
            self.max_archive_files, self.max_archive_bytes, self.max_archive_ratio, self.max_file_bytes
        )


class ReconcileSettings(DatabaseSettings, ObjectStoreSettings):
    """`settled_after_seconds`: what changed later is still on its way, and not compared."""

    internal_token_secret: SecretStr
    retrieval_url: str
    knowledge_graph_url: str
    settled_after_seconds: float = Field(default=300.0, ge=0)
