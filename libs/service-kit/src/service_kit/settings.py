"""The settings that services share. A service's settings.py inherits them and alone reads the environment."""

from __future__ import annotations

from typing import Annotated

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
from redis.asyncio.connection import parse_url

ESCAPE = "characters of the password other than letters, digits and -._~ are written in percent-encoding"


def _postgres_url(url: SecretStr) -> SecretStr:
    """Refused here, a wrong one reaches no driver, whose message would repeat parts of it."""
    try:
        parts = conninfo_to_dict(url.get_secret_value())
    except ProgrammingError:
        raise ValueError(f"is not the URL of a PostgreSQL database; {ESCAPE}") from None
    ports = str(parts.get("port") or "0").split(",")
    if "@" in str(parts.get("host")) or not all(port.isdigit() for port in ports):
        raise ValueError(f"has no valid host and port; {ESCAPE}")
    return url


def _redis_url(url: SecretStr) -> SecretStr:
    try:
        parse_url(url.get_secret_value())
    except ValueError:
        raise ValueError(f"is not the URL of a Redis server; {ESCAPE}") from None
    return url


PostgresUrl = Annotated[SecretStr, AfterValidator(_postgres_url)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis_url)]


class Environment(BaseSettings):
    """Read from the environment: the field's name in capitals. An empty variable counts as unset."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", hide_input_in_errors=True)


class ServiceSettings(Environment):
    """What every service has."""

    host: str = "127.0.0.1"
    port: int
    log_level: str = "INFO"
    internal_token_secret: SecretStr
    otel_exporter_otlp_endpoint: str | None = None


class DatabaseSettings(Environment):
    """`database_url` logs in as the service's own role, which row-level security binds."""

    database_url: PostgresUrl
    database_pool_size: int = 8


class MigrationSettings(DatabaseSettings):
    """`admin_database_url` may create roles and schemas; only the migration has it."""

    admin_database_url: PostgresUrl


class RedisSettings(Environment):
    redis_url: RedisUrl


class EventSettings(DatabaseSettings, RedisSettings):
    """What a service has that writes and reads events (`EventService`)."""


class ObjectStoreSettings(Environment):
    """An S3 endpoint as host:port, without a scheme; `s3_secure` chooses HTTPS."""

    s3_endpoint: str
    s3_access_key: str
    s3_secret_key: SecretStr
    s3_bucket: str = "attractor"
    s3_secure: bool = False
    s3_region: str = "us-east-1"
