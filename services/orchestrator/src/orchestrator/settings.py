"""The service's settings, read from the environment."""

from __future__ import annotations

from pydantic import Field

from inference.settings import ChatSettings
from service_kit.settings import EventSettings, ServiceSettings


class Settings(ServiceSettings, EventSettings, ChatSettings):
    """Times in seconds, budgets in tokens (estimated). Without CHAT_BASE_URL and CHAT_MODEL answers are extractive."""

    port: int = 8001
    ingestion_url: str = Field(description="Ingestion's base URL, asked whether a document exists")
    retrieval_url: str = Field(description="Retrieval's base URL, asked for each answer's sources")
    memory_url: str = Field(description="Memory's base URL, asked for memories if there is a chat model")
    run_concurrency: int = Field(default=4, ge=1, description="Runs that one process works on at a time")
    run_lease_seconds: float = Field(
        default=15.0, gt=0, description="After this time without a sign a run is taken over"
    )
    run_max_attempts: int = Field(default=3, ge=1, description="Crashes and internal errors that a run survives")
    run_stream_ttl: int = Field(default=86_400, ge=1, description="Seconds for which a run's events can be replayed")
    sse_heartbeat_seconds: float = Field(default=15.0, gt=0, description="Pause between comments on a silent stream")
    sse_max_streams: int = Field(default=1_000, ge=1, description="Open event streams; each holds a Redis connection")
    search_k: int = Field(default=8, ge=1, le=100, description="Hits of an answer's search")
    search_timeout_seconds: float = Field(default=10.0, gt=0, description="Limit of an answer's search")
    recall_timeout_seconds: float = Field(default=2.0, gt=0, description="Limit of an answer's recall of memories")
    document_timeout_seconds: float = Field(default=5.0, gt=0, description="Limit of the check that a document exists")
    history_tokens: int = Field(default=2_000, ge=0, description="Budget of a prompt for earlier messages")
    passage_tokens: int = Field(default=4_000, ge=200, description="Budget of a prompt for sources")
