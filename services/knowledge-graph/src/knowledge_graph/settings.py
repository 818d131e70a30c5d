"""The one place that reads the environment."""

from pydantic import Field, SecretStr

from inference.settings import ChatSettings
from service_kit.settings import DatabaseSettings, Environment, EventSettings, ObjectStoreSettings, ServiceSettings


class Neo4jSettings(Environment):
    """Without `neo4j_url` PostgreSQL alone answers."""

    neo4j_url: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")


class ProjectionSettings(DatabaseSettings, Neo4jSettings):
    """What the commands `rebuild` and `verify` need."""


class RefinementSettings(Environment):
    """Refinement by the chat model, where a workspace turns it on."""

    graph_refinement_concurrency: int = Field(default=4, ge=1, le=64)
    graph_refinement_answer_tokens: int = Field(default=1_200, ge=100)
    graph_refinement_lease_seconds: float = Field(default=30.0, gt=0)
    graph_refinement_backoff_seconds: float = Field(default=15.0, gt=0)


class Settings(ServiceSettings, EventSettings, ObjectStoreSettings, Neo4jSettings, ChatSettings, RefinementSettings):
    """The service's own settings. Without `retrieval_url` a topic is looked up by the graph alone."""

    graph_parser: bool = True
    """Relations by the dependency parse of English sentences, and lower-case terms."""
    graph_min_entity_freq: int = Field(default=2, ge=1, le=1_000)
    """Mentions from which on lists, pictures and hops show an entity, where a request does not say."""
    retrieval_url: str | None = None
    retrieval_deadline_seconds: float = Field(default=2.0, gt=0)
