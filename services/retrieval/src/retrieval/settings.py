"""The one place that reads the environment."""

from __future__ import annotations

from pydantic import Field

from inference.settings import EmbeddingSettings
from service_kit.settings import EventSettings, ObjectStoreSettings, ServiceSettings


class Settings(ServiceSettings, EventSettings, ObjectStoreSettings, EmbeddingSettings):
    """Deadlines are seconds. Up to `exact_scan_limit` vectors are compared one by one, beyond it HNSW is asked.

    `build_batch_size` passages are embedded at a time where an embedding space is built.
    """

    lexical_deadline_seconds: float = Field(default=2.0, gt=0)
    dense_deadline_seconds: float = Field(default=3.0, gt=0)
    highlight_deadline_seconds: float = Field(default=3.0, gt=0)
    exact_scan_limit: int = Field(default=10_000, ge=0)
    hnsw_ef_search: int = Field(default=120, ge=1, le=1000)
    build_batch_size: int = Field(default=16, ge=1, le=256)
