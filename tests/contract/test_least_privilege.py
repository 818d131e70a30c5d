"""No process gets a secret that it does not read: both ways to run, compared with the settings classes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from contract.variables import CONTAINERS, SETTINGS, VARIABLES, variables
from pydantic_settings import BaseSettings

from embedded.credentials import Credentials
from embedded.topology import OBSERVED, PROCESSES, Site
from service_kit.settings import MigrationSettings


def secrets_of(settings: type[BaseSettings]) -> set[str]:
    """Returns the variables read as secrets; an access key counts with its secret key."""
    named = {name.upper() for name, field in settings.model_fields.items() if "SecretStr" in repr(field.annotation)}
    return named - UNSET | ({"S3_ACCESS_KEY"} if "S3_SECRET_KEY" in named else set())


UNSET = {"DATABASE_DIRECT_URL"}
"""Secrets that only a deployment with PgBouncer sets."""
FOREIGN = {"AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "SSH_AUTH_SOCK": "/x", "PGPASSWORD": "x"}
MIGRATION = secrets_of(MigrationSettings)
ALL = set[str]().union(MIGRATION, *map(secrets_of, CONTAINERS.values()))


def compose() -> dict[str, set[str]]:
    """Returns the variables by container; a secret file counts as the variable of its name."""
    text = (Path(__file__).parents[2] / "compose.yaml").read_text(encoding="utf-8")
    found = {}
    for name, one in yaml.safe_load(text)["services"].items():
        files = [secret if isinstance(secret, str) else secret["target"] for secret in one.get("secrets", [])]
        found[name] = set(one.get("environment", {})) | {file.upper() for file in files}
    return found


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_has_only_the_secrets_it_reads(name: str) -> None:
    assert compose()[name] & ALL == secrets_of(CONTAINERS[name])


def test_migrations_and_engines_have_only_their_own_secrets() -> None:
    for name, given in compose().items():
        if name.endswith("-migrate"):
            assert given == MIGRATION, name
        elif name not in CONTAINERS:
            assert not given & ALL, name


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_a_process_of_the_embedded_stack_has_only_the_secrets_it_reads(process, tmp_path: Path) -> None:
    store = SimpleNamespace(endpoint="localhost:1", access_key="a", secret_key="s", bucket="b")
    engines = SimpleNamespace(
        object_store=store,
        redis_url=lambda user: f"redis://{user}@localhost:1",
        database_url=lambda role, _password: f"postgresql://{role}@localhost:1",
    )
    ports = {one.service: 1 for one in PROCESSES}
    user = dict.fromkeys(ALL, "the user's") | FOREIGN | {"POSTGRES_PASSWORD": "x", "LOG_LEVEL": "DEBUG", "PATH": "/bin"}
    private = dict.fromkeys(OBSERVED, 1)
    site = Site(tmp_path, user, engines, Credentials(tmp_path / "credentials"), "127.0.0.1", ports, private)
    given = site.environment(process)
    assert given["LOG_LEVEL"] == "DEBUG"
    assert given.keys() & (ALL | {"POSTGRES_PASSWORD"}) == secrets_of(SETTINGS[process.name])
    assert not given.keys() & FOREIGN.keys(), "the user's own environment is not Attractor's"
    assert given["PATH"] == "/bin"


def test_the_embedded_stack_knows_the_variables_of_each_process() -> None:
    assert VARIABLES.read_text(encoding="utf-8") == variables(), "run `make contracts`"
