"""The settings that services share. A service's settings.py inherits them and alone reads the environment."""

from __future__ import annotations

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class ServiceSettings(BaseSettings):
    """Read from the environment: the field's name in capitals. An empty variable counts as unset."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int
    log_level: str = "INFO"
    internal_token_secret: SecretStr
    otel_exporter_otlp_endpoint: str | None = None


class DatabaseSettings(BaseSettings):
    """`database_url` logs in as the service's own role, which row-level security binds."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    database_url: SecretStr
    database_pool_size: int = 8


class MigrationSettings(DatabaseSettings):
    """`admin_database_url` may create roles and schemas; only the migration has it."""

    admin_database_url: SecretStr


class RedisSettings(BaseSettings):
    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    redis_url: SecretStr


class ObjectStoreSettings(BaseSettings):
    """An S3 endpoint as host:port, without a scheme; `s3_secure` chooses HTTPS."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    s3_endpoint: str
    s3_access_key: str
    s3_secret_key: SecretStr
    s3_bucket: str = "attractor"
    s3_secure: bool = False
    s3_region: str = "us-east-1"
