"""Every service twice, behind PgBouncer: workspaces stay apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import rearranged_stack
from api_calls import client, new_tenant
from database_servers import SCHEMAS, address, pgbouncer, pgbouncer_program, server
from isolation import assert_no_route_reveals_the_other, assert_the_first_is_unchanged, neighbours
from rearranged_stack import SECOND, DatabasePlace
from stack import PATIENT, EmbeddedStack

from embedded.data_folder import DataFolder

pytestmark = pytest.mark.timeout(900)
REPLICATED = ("retrieval", "knowledge-graph", "memory", "ingestion", "ingestion-worker", "orchestrator")
CONNECTIONS = 12


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """Each service but the gateway has two processes, and all have a pooler instead of their database server."""
    folder = tmp_path_factory.mktemp("stack")
    data = DataFolder(folder)
    data.create()
    passwords = {role: data.credentials.named(role) for role in (f"attractor_{schema}" for schema in SCHEMAS)}
    pooled = tmp_path_factory.mktemp("pooler")
    pooled.chmod(0o711)
    with (
        server(tmp_path_factory.mktemp("server") / "data") as database,
        pgbouncer(pgbouncer_program(), pooled, address(database), passwords, CONNECTIONS) as pooler,
    ):
        place = DatabasePlace(database.url(), pooler, direct=address(database))
        settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "0", "WAITS_IN_FLIGHT_PER_KEY": "0", "REPLICAS": "2"}
        settings |= rearranged_stack.databases({"*": place})
        with EmbeddedStack.started(folder, (rearranged_stack.__file__,), **settings) as running:
            yield running


@pytest.fixture
async def http(stack: EmbeddedStack) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(stack.url, stack.api_key) as admin:
        yield admin


async def test_workspaces_stay_apart(stack: EmbeddedStack, http: httpx2.AsyncClient, tmp_path: Path) -> None:
    async with neighbours(partial(new_tenant, stack.url, http), tmp_path) as both:
        await assert_no_route_reveals_the_other(both)
        await assert_the_first_is_unchanged(both)


def test_the_services_have_no_connection_beyond_the_poolers_but_for_notifications(stack: EmbeddedStack) -> None:
    names = {f"{name}{end}" for name in REPLICATED for end in ("", SECOND)}
    processes = stack.processes()
    assert names <= processes.keys()
    connections = [(name, one.raddr.port) for name, _, one in stack.connections("inet") if one.raddr]
    for name in names:
        direct = urlsplit(processes[name].environ()["DATABASE_DIRECT_URL"]).port
        assert connections.count((name, direct)) <= 1, name
