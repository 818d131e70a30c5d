"""The one place that reads the environment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from inference.settings import ChatSettings, EntailmentSettings
from orchestrator.configuration.sealing import SecretSeal
from service_kit.settings import DatabaseSettings, DocumentConsumerSettings, ObjectStoreSettings, ServiceSettings
from service_kit.web_address import AllowedAddresses, allowed_addresses


def _addresses(value: object) -> object:
    return allowed_addresses(value) if isinstance(value, str) else value


def _keys(keys: SecretStr) -> SecretStr:
    SecretSeal.parse(keys.get_secret_value())
    return keys


SettingsKeys = Annotated[SecretStr, AfterValidator(_keys)]


class RotationSettings(DatabaseSettings):
    """What `rotate-settings-key` reads."""

    settings_key: SettingsKeys
    """The new key, then those that it replaces"""


class Settings(ServiceSettings, DocumentConsumerSettings, ObjectStoreSettings, ChatSettings, EntailmentSettings):
    """Times in seconds, budgets in tokens (estimated). Without CHAT_BASE_URL and CHAT_MODEL answers are extractive."""

    port: int = 8003
    retrieval_url: str
    """The address of retrieval"""
    knowledge_graph_url: str | None = None
    """The address of knowledge-graph; without it, questions about structure are answered by the search alone"""
    memory_url: str
    """The address of memory"""
    run_concurrency: int = Field(default=32, ge=1)
    """Runs that one process works on at a time: they wait for others, and compute little"""
    run_lease_seconds: float = Field(default=6.0, gt=0)
    """A process that has not renewed its lease for so long has lost its run"""
    run_max_attempts: int = Field(default=3, ge=1)
    """Attempts that crashes and internal errors may cost before a run fails"""
    run_drain_seconds: float = Field(default=20.0, ge=0)
    """Seconds that a run's current node has to end when the process stops; the run then goes on elsewhere"""
    run_stream_ttl: int = Field(default=86_400, ge=1)
    """Seconds that the events of an ended run are kept"""
    sse_heartbeat_seconds: float = Field(default=15.0, gt=0)
    """The pause between comments on an idle event stream"""
    sse_max_streams: int = Field(default=1_000, ge=1)
    """Event streams open at a time; each holds a Redis connection"""
    routing: Literal["rules", "auto", "model"] = "auto"
    """Who decides whether a message is answered or changes the artifact: `rules` by its words, `auto` also a chat model
    where these do not say so, `model` a chat model each time"""
    search_k: int = Field(default=8, ge=1, le=100)
    """Chunks that an answer may draw on"""
    rewrite_query: bool = False
    """Whether a chat model (role `router`) words the query of each search from the conversation, within 3 seconds; a
    message can say otherwise"""
    document_wait_seconds: float = Field(default=20.0, ge=0, le=60)
    """How long an answer waits for documents of its session that are being read"""
    search_timeout_seconds: float = Field(default=10.0, gt=0)
    """The limit of a run's search"""
    graph_timeout_seconds: float = Field(default=5.0, gt=0)
    """The limit of a run's question to the graph"""
    recall_timeout_seconds: float = Field(default=2.0, gt=0)
    """The limit of a run's recall of memories"""
    document_timeout_seconds: float = Field(default=5.0, gt=0)
    """The limit of the check that a document exists"""
    export_seconds: float = Field(default=30.0, gt=0)
    """The limit of writing an artifact as a file"""
    export_memory_bytes: int = Field(default=768 << 20, ge=256 << 20)
    """The memory that one export may take; longer PDFs need more"""
    exports_at_once: int = Field(default=1, ge=1)
    """Exports that one process has written at a time; others wait"""
    history_tokens: int = Field(default=2_000, ge=0)
    """Estimated tokens of earlier messages in a prompt"""
    summary_tokens: int = Field(default=2_000, ge=100)
    """Estimated tokens of messages beyond which the older ones are condensed into a summary, after the answer"""
    budget_run_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one run may take of models, read and written; without it there is no limit"""
    budget_user_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one user of a workspace may take a day (UTC)"""
    budget_key_tokens: int | None = Field(default=None, ge=1)
    """Tokens that one API key may take a day"""
    budget_workspace_tokens: int | None = Field(default=None, ge=1)
    """Tokens that a workspace may take a day"""
    settings_key: SettingsKeys | None = None
    """Seals the secrets that workspaces store: 64 hexadecimal characters (openssl rand -hex 32). Further keys, after a
    space, only open what was sealed with them; `rotate-settings-key` seals all with the first"""
    provider_allowed_networks: Annotated[AllowedAddresses, NoDecode, BeforeValidator(_addresses)] = AllowedAddresses()
    """Where providers of workspaces may be beyond the public internet: networks (CIDR), addresses and host names,
    separated by commas"""
    passage_tokens: int = Field(default=4_000, ge=200)
    """Estimated tokens of chunks in a prompt"""

    @property
    def seal(self) -> SecretSeal | None:
        """Seals the secrets of workspaces, if there is a key."""
        return None if self.settings_key is None else SecretSeal.parse(self.settings_key.get_secret_value())
