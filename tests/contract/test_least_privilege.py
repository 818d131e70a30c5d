"""No process is given a secret that it does not read: both ways to run, against the settings classes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from pydantic_settings import BaseSettings

from embedded.credentials import Credentials
from embedded.topology import PROCESSES, Site
from gateway.settings import Settings as Gateway
from ingestion.settings import Settings as Ingestion
from ingestion.worker.settings import WorkerSettings
from knowledge_graph.settings import Settings as KnowledgeGraph
from memory.settings import Settings as Memory
from orchestrator.settings import Settings as Orchestrator
from retrieval.settings import Settings as Retrieval
from service_kit.settings import MigrationSettings

SETTINGS: dict[str, type[BaseSettings]] = {
    "gateway": Gateway,
    "ingestion": Ingestion,
    "ingestion-worker": WorkerSettings,
    "knowledge-graph": KnowledgeGraph,
    "memory": Memory,
    "orchestrator": Orchestrator,
    "retrieval": Retrieval,
}


def secrets_of(settings: type[BaseSettings]) -> set[str]:
    """The variables that it reads as secrets; an access key goes with its secret key."""
    named = {name.upper() for name, field in settings.model_fields.items() if "SecretStr" in repr(field.annotation)}
    return named | ({"S3_ACCESS_KEY"} if "S3_SECRET_KEY" in named else set())


MIGRATION = secrets_of(MigrationSettings)
ALL = set[str]().union(MIGRATION, *map(secrets_of, SETTINGS.values()))


def compose() -> dict[str, set[str]]:
    """Variables by container."""
    text = (Path(__file__).parents[2] / "compose.yaml").read_text(encoding="utf-8")
    return {name: set(one.get("environment", {})) for name, one in yaml.safe_load(text)["services"].items()}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_container_has_the_secrets_that_it_reads(name: str) -> None:
    assert compose()[name] & ALL == secrets_of(SETTINGS[name])


def test_migrations_and_engines_have_only_their_own() -> None:
    for name, variables in compose().items():
        if name.endswith("-migrate"):
            assert variables == MIGRATION, name
        elif name not in SETTINGS:
            assert not variables & ALL, name


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_a_process_of_the_embedded_stack_has_the_secrets_that_it_reads(process, tmp_path: Path) -> None:
    store = SimpleNamespace(endpoint="localhost:1", access_key="a", secret_key="s", bucket="b")
    engines = SimpleNamespace(
        object_store=store,
        redis_url=lambda user: f"redis://{user}@localhost:1",
        admin_database_url="postgresql://localhost:1",
        database_url=lambda role, _password: f"postgresql://{role}@localhost:1",
    )
    ports = {one.service: 1 for one in PROCESSES}
    user = dict.fromkeys(ALL, "the user's") | {"POSTGRES_PASSWORD": "x", "LOG_LEVEL": "DEBUG"}
    site = Site(tmp_path, user, engines, Credentials(tmp_path / "credentials"), "127.0.0.1", ports)
    given = site.environment(process)
    assert given["LOG_LEVEL"] == "DEBUG"
    assert given.keys() & (ALL | {"POSTGRES_PASSWORD"}) == secrets_of(SETTINGS[process.name])
    migration = site.migrate(process.service).env
    assert migration.keys() & ALL == MIGRATION
    assert migration["ADMIN_DATABASE_URL"] == engines.admin_database_url
