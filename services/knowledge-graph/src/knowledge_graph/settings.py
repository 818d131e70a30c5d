"""The settings of the service, read from the environment."""

from pydantic import Field, SecretStr

from inference.settings import ChatSettings
from service_kit.settings import (
    DatabaseSettings,
    DocumentConsumerSettings,
    Environment,
    ObjectStoreSettings,
    ServiceSettings,
)


class Neo4jSettings(Environment):
    """The optional projection to Neo4j."""

    neo4j_url: str | None = None
    """Address of Neo4j (`bolt://…`), which then holds a copy of the graph for Cypher."""
    neo4j_user: str = "neo4j"
    """User of Neo4j."""
    neo4j_password: SecretStr = SecretStr("")
    """Password of Neo4j."""


class ProjectionSettings(DatabaseSettings, Neo4jSettings):
    """Settings of the commands `rebuild` and `verify`."""


class ParserSettings(Environment):
    """What reads English sentences."""

    graph_parser: bool = True
    """Whether to extract relations and lower-case terms from the dependency parse of English sentences."""


class ExtractionSettings(DatabaseSettings, ObjectStoreSettings, Neo4jSettings, ParserSettings):
    """Settings of the command `extract`."""


class GraphRefinementSettings(Environment):
    """Refinement by the chat model, in workspaces that turn it on."""

    graph_refinement_concurrency: int = Field(default=4, ge=1, le=64)
    """Concurrent calls of the chat model, per process."""
    graph_refinement_answer_tokens: int = Field(default=1_200, ge=100)
    """Maximum tokens of an answer; reasoning models need more."""
    graph_refinement_lease_seconds: float = Field(default=30.0, gt=0)
    """How long a process that died keeps a workspace's refinement."""
    graph_refinement_backoff_seconds: float = Field(default=15.0, gt=0)
    """The first pause before an unavailable provider is tried again; doubles up to ten minutes."""


class Settings(
    ServiceSettings,
    DocumentConsumerSettings,
    ObjectStoreSettings,
    Neo4jSettings,
    ChatSettings,
    ParserSettings,
    GraphRefinementSettings,
):
    """The service's own settings."""

    graph_min_entity_freq: int = Field(default=2, ge=1, le=1_000)
    """Mentions that an entity needs to appear in lists, pictures and hops, unless a request says otherwise."""
    retrieval_url: str | None = None
    """Address of the retrieval service. If unset, topics are looked up only in the graph."""
    retrieval_deadline_seconds: float = Field(default=2.0, gt=0)
    """How long `summarize_document` waits for retrieval."""
