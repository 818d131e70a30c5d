"""The one place that reads the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from gateway.accounts.key_format import valid_operator_key
from service_kit.settings import EventSettings, ServiceSettings

MEBIBYTE = 2**20


class Settings(ServiceSettings, EventSettings):
    """Sizes in bytes, times in seconds; a limit of 0 is none."""

    port: int = 8080
    ingestion_url: str
    retrieval_url: str
    knowledge_graph_url: str
    memory_url: str
    orchestrator_url: str

    admin_api_key: SecretStr | None = None
    admin_key_file: Path | None = None

    max_body_bytes: int = Field(512 * MEBIBYTE, gt=0)
    max_json_bytes: int = Field(4 * MEBIBYTE, gt=0)
    rate_limit_per_minute: int = Field(600, ge=0)
    rate_limit_burst: int = Field(600, gt=0)
    auth_failures_per_minute: int = Field(60, ge=0)

    upstream_connect_seconds: float = Field(2.0, gt=0)
    upstream_first_byte_seconds: float = Field(310.0, gt=0)  # a caller may wait 300 s for a document
    upstream_connections: int = Field(1000, gt=0)
    status_seconds: float = Field(2.0, gt=0)

    workspace_settle_seconds: float = Field(150.0, ge=0)  # longer than an internal token is accepted

    cors_origins: Annotated[list[str], NoDecode] = []

    @field_validator("cors_origins", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        """Origins are written with commas between them."""
        return [origin.strip() for origin in value.split(",") if origin.strip()] if isinstance(value, str) else value

    @field_validator("admin_api_key")
    @classmethod
    def strong(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not valid_operator_key(value.get_secret_value()):
            raise ValueError("needs 32 to 200 characters of A-Z a-z 0-9 . _ ~ + / = -; try: openssl rand -hex 32")
        return value

    @model_validator(mode="after")
    def reachable_admin(self) -> Self:
        if self.admin_api_key is None and self.admin_key_file is None:
            raise ValueError("set ADMIN_API_KEY, or ADMIN_KEY_FILE for the gateway to write the key that it makes")
        return self

    def upstreams(self) -> dict[str, str]:
        """Base URL of each service that stands behind the door, by its name."""
        return {
            "ingestion": self.ingestion_url,
            "retrieval": self.retrieval_url,
            "knowledge-graph": self.knowledge_graph_url,
            "memory": self.memory_url,
            "orchestrator": self.orchestrator_url,
        }
