"""The running Compose stack, and what observes it for this session."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import pytest
from api_calls import Tenant, client, new_tenant
from observability.watching import Watch, runbook, shell, watching


@pytest.fixture(scope="session")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with watching(tmp_path_factory.mktemp("watch")) as running:
        yield running


@pytest.fixture(scope="session")
def address() -> tuple[str, str]:
    """The URL of the stack and the administrator's key."""
    return os.environ["ATTRACTOR_URL"], os.environ["ATTRACTOR_API_KEY"]


@pytest.fixture(scope="session")
async def tenant(address: tuple[str, str]) -> AsyncIterator[Tenant]:
    async with client(*address) as admin, new_tenant(address[0], admin, "watched") as made:
        yield made


@pytest.fixture(scope="session")
def backups() -> Iterator[None]:
    """The container that takes backups; it takes the first at once."""
    runbook("AttractorBackupOld", "docker compose --profile backup up -d backup")
    yield
    shell("docker compose --profile backup rm --force --stop --volumes backup backup-migrate")
