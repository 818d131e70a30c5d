"""The environment of the API process."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pydantic import Field

from ingestion.sources.settings import SourceSettings
from service_kit.settings import DatabaseSettings, ObjectStoreSettings, RedisSettings, ServiceSettings

MEBIBYTE = 1024 * 1024


class LeaseSettings(DatabaseSettings):
    """`lease_seconds`: a worker that shows no sign of life for so long has lost its stage. Equal in API and worker."""

    lease_seconds: float = Field(default=20.0, gt=0)


class Settings(ServiceSettings, LeaseSettings, RedisSettings, ObjectStoreSettings, SourceSettings):
    """`upload_folder` holds one file per running upload, for as long as it is received."""

    port: int = 8002
    max_file_bytes: int = Field(default=200 * MEBIBYTE, gt=0)
    max_files_per_upload: int = Field(default=1000, gt=0)
    upload_folder: Path = Path(tempfile.gettempdir())
    reannounce_after_seconds: float = Field(default=30.0, gt=0, description="Before a lost event is looked for")
    max_losses: int = Field(default=3, gt=0, description="Workers that a document may take down before it fails")
