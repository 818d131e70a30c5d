"""The settings of the service; the only module that reads the environment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from inference.settings import ChatSettings, EntailmentSettings
from orchestrator.configuration.sealing import SecretSeal
from service_kit.settings import (
    AllowedNetworks,
    DatabaseSettings,
    DocumentConsumerSettings,
    ObjectStoreSettings,
    ServiceSettings,
)
from service_kit.web_address import AllowedAddresses


def _keys(keys: SecretStr) -> SecretStr:
    SecretSeal.parse(keys.get_secret_value())
    return keys


SettingsKeys = Annotated[SecretStr, AfterValidator(_keys)]


class RotationSettings(DatabaseSettings):
    """Settings of `rotate-settings-key`."""

    settings_key: SettingsKeys
    """The new key, then the keys that it replaces"""


class Settings(ServiceSettings, DocumentConsumerSettings, ObjectStoreSettings, ChatSettings, EntailmentSettings):
    """Times in seconds, budgets in tokens (estimated). Without CHAT_BASE_URL and CHAT_MODEL answers are extractive."""

    port: int = 8003
    retrieval_url: str
    """The address of retrieval"""
    knowledge_graph_url: str | None = None
    """The address of knowledge-graph; unset: questions about structure are answered by search only"""
    memory_url: str
    """The address of memory"""
    run_concurrency: int = Field(default=32, ge=1)
    """Concurrent runs per process; they mostly wait for other services and compute little"""
    run_lease_seconds: float = Field(default=6.0, gt=0)
    """A process loses its run if it does not renew the lease for this long"""
    run_max_attempts: int = Field(default=3, ge=1)
    """Attempts before crashes and internal errors make a run fail"""
    run_drain_seconds: float = Field(default=20.0, ge=0)
    """Time for a run's current node to finish when the process stops; the run then continues elsewhere"""
    run_stream_ttl: int = Field(default=86_400, ge=1)
    """How long the events of a finished run are kept"""
    sse_heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Interval between comments on an idle event stream"""
    sse_max_streams: int = Field(default=1_000, ge=1)
    """Maximum open event streams; each holds a Redis connection"""
    routing: Literal["rules", "auto", "model"] = "auto"
    """What decides whether a message is answered or changes the artifact: `rules` uses its words, `auto` also a chat
    model if the words do not decide, `model` always a chat model"""
    search_k: int = Field(default=8, ge=1, le=100)
    """Chunks that an answer may draw on"""
    rewrite_query: bool = False
    """Whether a chat model (role `router`) writes each search query from the conversation, within 3 seconds; a message
    can override this"""
    document_wait_seconds: float = Field(default=20.0, ge=0, le=60)
    """How long an answer waits for documents of its session that are still being processed"""
    search_timeout_seconds: float = Field(default=10.0, gt=0)
    """Time limit of a run's search"""
    graph_timeout_seconds: float = Field(default=5.0, gt=0)
    """Time limit of a run's graph query"""
    recall_timeout_seconds: float = Field(default=2.0, gt=0)
    """Time limit of recalling memories for a run"""
    document_timeout_seconds: float = Field(default=5.0, gt=0)
    """Time limit of the check that a document exists"""
    export_seconds: float = Field(default=30.0, gt=0)
    """Time limit of exporting an artifact as a file"""
    export_memory_bytes: int = Field(default=768 << 20, ge=256 << 20)
    """Memory limit of one export; longer PDFs need more"""
    exports_at_once: int = Field(default=1, ge=1)
    """Concurrent exports per process; others wait"""
    history_tokens: int = Field(default=2_000, ge=0)
    """Estimated tokens of earlier messages in a prompt"""
    summary_tokens: int = Field(default=2_000, ge=100)
    """Estimated tokens of messages above which the older ones are condensed into a summary, after the answer"""
    budget_run_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one run may use, input and output together; unset: no limit"""
    budget_user_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one user of a workspace may use per day (UTC)"""
    budget_key_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one API key may use per day"""
    budget_workspace_tokens: int | None = Field(default=None, ge=1)
    """Tokens that a workspace may use per day"""
    settings_key: SettingsKeys | None = None
    """Seals the secrets that workspaces store: 64 hexadecimal characters (openssl rand -hex 32). Further keys, after a
    space, only open what they sealed; `rotate-settings-key` reseals everything with the first"""
    provider_allowed_networks: AllowedNetworks = AllowedAddresses()
    """Where workspaces' own providers may be besides the public internet: networks (CIDR), addresses and host names,
    separated by commas"""
    passage_tokens: int = Field(default=4_000, ge=200)
    """Estimated tokens of chunks in a prompt"""

    @property
    def seal(self) -> SecretSeal | None:
        """Returns the seal for the secrets of workspaces; None without a key."""
        return None if self.settings_key is None else SecretSeal.parse(self.settings_key.get_secret_value())
