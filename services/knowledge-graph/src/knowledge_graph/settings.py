"""The one place that reads the environment."""

from pydantic import SecretStr

from service_kit.settings import DatabaseSettings, Environment, EventSettings, ObjectStoreSettings, ServiceSettings


class Neo4jSettings(Environment):
    """Without `neo4j_url` PostgreSQL alone answers."""

    neo4j_url: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")


class ProjectionSettings(DatabaseSettings, Neo4jSettings):
    """What the commands `rebuild` and `verify` need."""


class Settings(ServiceSettings, EventSettings, ObjectStoreSettings, Neo4jSettings):
    """The service's own settings."""
