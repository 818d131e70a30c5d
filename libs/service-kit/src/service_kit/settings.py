"""Settings that services share. A service's settings.py inherits them; it alone reads the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, BeforeValidator, Field, FilePath, SecretStr, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
)

from service_kit.token_keys import SigningKey, parse_public_keys
from service_kit.web_address import AllowedAddresses, allowed_addresses

SECRET_FILES = Path("/run/secrets")
ESCAPE = "in the password, percent-encode every character other than letters, digits and -._~"


def _postgres_url(url: SecretStr) -> SecretStr:
    """Validates the URL here, because the driver's message would repeat parts of it."""
    try:
        parts = conninfo_to_dict(url.get_secret_value())
    except ProgrammingError:
        raise ValueError(f"is not the URL of a PostgreSQL database; {ESCAPE}") from None
    ports = str(parts.get("port") or "0").split(",")
    if "@" in str(parts.get("host")) or not all(port.isdigit() for port in ports):
        raise ValueError(f"has no valid host and port; {ESCAPE}")
    return url


def _redis_url(url: SecretStr) -> SecretStr:
    from redis.asyncio.connection import parse_url  # noqa: PLC0415  migrations do without Redis

    try:
        parse_url(url.get_secret_value())
    except ValueError:
        raise ValueError(f"is not the URL of a Redis server; {ESCAPE}") from None
    return url


def _private_key(text: SecretStr) -> SecretStr:
    SigningKey.parse(text.get_secret_value())
    return text


def _public_keys(text: str) -> str:
    parse_public_keys(text)
    return text


def _addresses(value: object) -> object:
    return allowed_addresses(value) if isinstance(value, str) else value


PostgresUrl = Annotated[SecretStr, AfterValidator(_postgres_url)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis_url)]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(str.upper)]
AllowedNetworks = Annotated[AllowedAddresses, NoDecode, BeforeValidator(_addresses)]


class _SecretFiles(SecretsSettingsSource):
    """Reads the files in SECRET_FILES. An empty file counts as absent."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        value, key, is_complex = super().get_field_value(field, field_name)
        return value or None, key, is_complex


class Environment(BaseSettings):
    """Reads each field from the environment variable of its name in capitals. An empty variable counts as unset.

    If it is unset, the file of the field's name in SECRET_FILES is read, where containers find their secrets.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True, extra="ignore", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the caller passes all by name)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (likewise)
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        files = (_SecretFiles(settings_cls, SECRET_FILES),) if SECRET_FILES.is_dir() else ()
        return init_settings, env_settings, *files


class TokenSettings(Environment):
    """Keys for tokens between services (Ed25519; each half is 64 hexadecimal digits)."""

    token_private_key: Annotated[SecretStr, AfterValidator(_private_key)]
    """Signs this service's tokens; no other process has it"""
    token_public_keys: Annotated[str, AfterValidator(_public_keys)]
    """The public keys of all services: `service:key`, separated by spaces; two per service while its key is replaced"""

    @model_validator(mode="after")
    def paired(self) -> Self:
        """Raises ValueError if no other service could verify this service's tokens."""
        if SigningKey.parse(self.token_private_key.get_secret_value()).id not in parse_public_keys(
            self.token_public_keys
        ):
            raise ValueError("TOKEN_PUBLIC_KEYS lacks the public half of this service's TOKEN_PRIVATE_KEY")
        return self


class PrivateSettings(Environment):
    """The port for probes and metrics."""

    private_host: str = "127.0.0.1"
    """The address of the private port"""
    private_port: int | None = None
    """The port of /readyz and /metrics; must not be reachable from outside"""
    private_port_fd: int | None = None
    """The descriptor of a socket that listens on it already, held by the process's parent across restarts"""


class TlsSettings(Environment):
    """HTTPS on the service's own port, for deployments without a proxy that terminates TLS."""

    tls_certificate_file: FilePath | None = None
    """The certificate with its chain, as PEM; if set, the port accepts only HTTPS"""
    tls_key_file: FilePath | None = None
    """The certificate's private key, as PEM"""

    @model_validator(mode="after")
    def whole(self) -> Self:
        """Raises ValueError if only one of the two is set."""
        if (self.tls_certificate_file is None) != (self.tls_key_file is None):
            raise ValueError("set both TLS_CERTIFICATE_FILE and TLS_KEY_FILE, or neither")
        return self

    @property
    def tls(self) -> dict[str, Path]:
        """Returns the server's options for HTTPS; empty for HTTP."""
        if self.tls_certificate_file is None or self.tls_key_file is None:
            return {}
        return {"ssl_certfile": self.tls_certificate_file, "ssl_keyfile": self.tls_key_file}


class DatabaseSettings(Environment):
    """The service's own schema."""

    database_url: PostgresUrl
    """PostgreSQL, as the service's own role, which is subject to row-level security"""
    database_direct_url: PostgresUrl | None = None
    """The same database without PgBouncer, if DATABASE_URL leads through it: notifications (LISTEN) need a session"""
    database_pool_size: int = 8
    """Maximum connections of one process"""

    @property
    def listening_url(self) -> str:
        """Returns the URL for LISTEN."""
        return (self.database_direct_url or self.database_url).get_secret_value()


class ServiceSettings(TokenSettings, PrivateSettings, DatabaseSettings):
    """Settings of every service. Without a private port, the main port serves /readyz and /metrics."""

    host: str = "127.0.0.1"
    """The address that the process listens on"""
    port: int
    """The port that the process listens on"""
    port_fd: int | None = None
    """The descriptor of a socket that listens on it already, held by the process's parent across restarts"""
    server_processes: int = Field(default=1, ge=0)
    """How many processes answer at the port; 0: one for each core, at most four"""
    max_connections: int = Field(default=2_000, gt=0)
    """Maximum open connections of each process; beyond this, the one that has been idle longest is closed"""
    log_level: LogLevel = "INFO"
    otel_exporter_otlp_endpoint: str | None = None
    """Where spans are sent, by OTLP over HTTP; unset: no spans are sent"""


class MigrationSettings(DatabaseSettings):
    """Settings of migrations."""

    admin_database_url: PostgresUrl
    """PostgreSQL, as a role that may create roles and schemas; only `migrate` uses it"""


class RedisSettings(Environment):
    redis_url: RedisUrl
    """Redis 7.2 or later, or Valkey"""


class EventSettings(DatabaseSettings, RedisSettings):
    """Settings of services that write and read events (`EventService`)."""


class ConsumerSettings(EventSettings):
    """Settings of services that store data of a workspace."""

    gateway_url: str
    """The address of the gateway, which must confirm before a workspace's data is erased"""


class DocumentConsumerSettings(ConsumerSettings):
    """Settings of services that store data of a document."""

    ingestion_url: str
    """The address of ingestion, which must confirm before a document's data is erased"""


class SessionConsumerSettings(ConsumerSettings):
    """Settings of services that store data of a session."""

    orchestrator_url: str
    """The address of the orchestrator, which must confirm before a session's data is erased"""


class ObjectStoreSettings(Environment):
    """The object store: anything that speaks the S3 API."""

    s3_endpoint: str
    """host:port, without a scheme"""
    s3_access_key: str
    """The access key of the object store"""
    s3_secret_key: SecretStr
    """The secret key of the object store"""
    s3_bucket: str = "attractor"
    """The bucket that holds the originals, chunks and vectors of all workspaces"""
    s3_secure: bool = False
    """Whether to use HTTPS for the object store"""
    s3_region: str = "us-east-1"
    """The region for which requests are signed"""
