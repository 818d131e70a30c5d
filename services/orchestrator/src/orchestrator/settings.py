"""The one place that reads the environment."""

from __future__ import annotations

from pydantic import Field

from inference.settings import ChatSettings
from service_kit.settings import EventSettings, ServiceSettings


class Settings(ServiceSettings, EventSettings, ChatSettings):
    """Times in seconds, budgets in tokens (estimated). Without CHAT_BASE_URL and CHAT_MODEL answers are extractive."""

    port: int = 8003
    retrieval_url: str
    memory_url: str
    run_concurrency: int = Field(default=4, ge=1)
    run_lease_seconds: float = Field(default=15.0, gt=0)
    run_max_attempts: int = Field(default=3, ge=1)
    run_stream_ttl: int = Field(default=86_400, ge=1)
    sse_heartbeat_seconds: float = Field(default=15.0, gt=0)
    sse_max_streams: int = Field(default=1_000, ge=1)
    search_k: int = Field(default=8, ge=1, le=100)
    search_timeout_seconds: float = Field(default=10.0, gt=0)
    recall_timeout_seconds: float = Field(default=2.0, gt=0)
    history_tokens: int = Field(default=2_000, ge=0)
    passage_tokens: int = Field(default=4_000, ge=200)
