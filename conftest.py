"""Fixtures on real engines, for the integration tests of every library and service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import caller_settings
import httpx2
import psycopg
import pytest
from database_servers import SCHEMAS, pgbouncer, pgbouncer_program
from deletion_owners import DeletionOwners
from deployment_keys import ACTORS, DELEGATED, DeploymentKeys
from fastapi import FastAPI
from held_port import held_port
from hypothesis import settings
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from psycopg import sql
from pydantic import SecretStr
from real_engines import RealEngines, container_engines, embedded_engines
from redis import Redis

import service_kit.migrate
from contracts.gateway import Role
from contracts.registry import GATEWAY
from service_kit.auth import Principal
from service_kit.objects import ObjectStore
from service_kit.settings import DatabaseSettings, ObjectStoreSettings
from service_kit.tokens import Tokens
from service_kit.tracing import described

# The same examples in every run; --hypothesis-profile=default tries new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

LONGEST_ID = 20
TEMPLATES: dict[tuple[object, ...], str] = {}


def pytest_configure() -> None:
    if not os.environ.get("ATTRACTOR_COMPOSE"):  # a container that a test starts again must not differ
        caller_settings.hide()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names file parameters after their argument, because their content may include their creation time."""
    return argname if isinstance(val, bytes) and len(val) > LONGEST_ID else None


Running = Callable[[FastAPI], AbstractAsyncContextManager[httpx2.AsyncClient]]


@dataclass(frozen=True)
class DatabaseUrls:
    """A fresh database: `admin` owns it, `service` is the service's own role on it."""

    admin: str
    service: str


@pytest.fixture(scope="session")
def engines() -> Iterator[RealEngines]:
    start = container_engines if os.environ.get("ENGINES") == "containers" else embedded_engines
    with start() as running:
        _make_disposable(running.admin_database_url)
        yield running


@pytest.fixture(scope="session", autouse=True)
def service_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """Returns for the URL of a service's role the one to use: with BEHIND_PGBOUNCER=1 it leads through PgBouncer."""
    if not os.environ.get("BEHIND_PGBOUNCER"):
        yield lambda url: url
        return
    direct = urlsplit(request.getfixturevalue("engines").admin_database_url).netloc.rpartition("@")[2]
    passwords = {role: f"password-of-{role}" for role in map("attractor_{}".format, SCHEMAS)}
    folder = tmp_path_factory.mktemp("pgbouncer")
    with pgbouncer(pgbouncer_program(), folder, direct, passwords) as pooled, pytest.MonkeyPatch.context() as patch:
        listening = property(lambda one: one.database_url.get_secret_value().replace(f"@{pooled}/", f"@{direct}/"))
        patch.setattr(DatabaseSettings, "listening_url", listening)  # what DATABASE_DIRECT_URL does
        yield lambda url: url.replace(f"@{direct}/", f"@{pooled}/")


UNSIGNED = """CREATE OR REPLACE FUNCTION {schema}.unsigned_until() RETURNS timestamptz LANGUAGE sql IMMUTABLE
AS $$ SELECT timestamptz '2100-01-01 00:00+00' $$"""


@pytest.fixture
def make_database(engines: RealEngines, service_server: Callable[[str], str]) -> Iterator[Callable[..., DatabaseUrls]]:
    """make_database("retrieval"): a new database with that service's migrations; dropped at the end."""
    names: list[str] = []

    def make(package: str) -> DatabaseUrls:
        template = _template(engines.admin_database_url, package)
        names.append(_create_database(engines.admin_database_url, "test", template))
        urls = _urls(engines.admin_database_url, names[-1], package)
        return replace(urls, service=service_server(urls.service))

    yield make
    with psycopg.connect(engines.admin_database_url, autocommit=True) as connection:
        for name in names:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _template(admin_database_url: str, package: str) -> str:
    """Returns the name of a database with the current migrations; it is created once and then copied."""
    source = package if find_spec(package) else "contracts"
    made = (admin_database_url, package, tuple(name for name, _ in service_kit.migrate.migrations(source)))
    if made not in TEMPLATES:
        name = _create_database(admin_database_url, "template")
        urls = _urls(admin_database_url, name, package)
        service_kit.migrate.migrate(urls.admin, urls.service, package, source)
        with psycopg.connect(urls.admin) as connection:  # tests publish events as services whose keys they do not have
            connection.execute(UNSIGNED.format(schema=package).encode())
        TEMPLATES[made] = name
    return TEMPLATES[made]


@pytest.fixture
def redis_url(engines: RealEngines) -> str:
    """The URL of an empty server for its administrator, who stands for all other services."""
    with Redis.from_url(engines.admin_redis_url) as client:
        client.flushall()
    return engines.admin_redis_url


@pytest.fixture
def own_redis_url(engines: RealEngines, redis_url: str) -> Iterator[Callable[[str], str]]:
    """own_redis_url("retrieval"): the same server, as this service's user, to whom a test must not deny anything."""
    with Redis.from_url(redis_url) as client:
        client.acl_log_reset()
        yield engines.redis_url
        assert client.acl_log() == []


@pytest.fixture
def owners() -> Iterator[DeletionOwners]:
    """Runs the services that confirm deletions before data is erased; they confirm by default."""
    with DeletionOwners.serving() as serving:
        yield serving


@pytest.fixture
def object_store_settings(engines: RealEngines) -> ObjectStoreSettings:
    return ObjectStoreSettings(
        s3_endpoint=engines.s3_endpoint,
        s3_access_key=engines.s3_access_key,
        s3_secret_key=SecretStr(engines.s3_secret_key),
        s3_bucket=f"test-{uuid4().hex[:12]}",
    )


@pytest.fixture
def object_store(object_store_settings: ObjectStoreSettings) -> Iterator[ObjectStore]:
    """An object store with its own bucket."""
    store = ObjectStore(object_store_settings)
    store.ensure_bucket()
    yield store
    store.delete(store.keys(""))
    store.client.remove_bucket(bucket_name=store.bucket)
    store.close()


@pytest.fixture
def neo4j_url(engines: RealEngines) -> tuple[str, str, str]:
    """URL, user and password of a Neo4j server."""
    if engines.neo4j is None:
        pytest.skip("Neo4j has no wheel: its half of the suite runs with make test ENGINES=containers")
    return engines.neo4j


@pytest.fixture
def unused_port() -> Iterator[int]:
    """Reserves a port on which nothing listens unless the test does."""
    with held_port() as port:
        yield port


@pytest.fixture
def token_keys() -> DeploymentKeys:
    return DeploymentKeys()


@pytest.fixture
def tokens(token_keys: DeploymentKeys) -> Tokens:
    """The gateway's tokens."""
    return token_keys.tokens(GATEWAY)


@pytest.fixture
def audience() -> str:
    """The audience of tokens, set by each service's own conftest."""
    raise NotImplementedError


@pytest.fixture
def workspace_id() -> UUID:
    return uuid4()


@pytest.fixture
def principal(workspace_id: UUID) -> Principal:
    """An owner in `workspace_id`."""
    return Principal(uuid4(), workspace_id, Role.owner)


@pytest.fixture
def auth_headers(tokens: Tokens, audience: str, principal: Principal) -> Callable[..., dict[str, str]]:
    """auth_headers(role=..., workspace_id=..., user_id=...): the gateway's token; by default for `principal`."""

    def headers(
        role: Role | None = None, workspace_id: UUID | None = None, user_id: UUID | None = None
    ) -> dict[str, str]:
        caller = Principal(user_id or principal.user_id, workspace_id or principal.workspace_id, role or principal.role)
        delegated = replace(caller, delegation=tokens.delegate(caller, ACTORS, DELEGATED))
        return {"Authorization": f"Bearer {tokens.sign(delegated, audience)}"}

    return headers


@pytest.fixture
def running() -> Running:
    """`async with running(app) as client`: the app with its lifespan, and a client that calls it in process."""

    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with (
            asyncio.timeout(240),
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://service", timeout=60) as client,
        ):
            yield client

    return run


def _make_disposable(admin_database_url: str) -> None:
    """Turns off durability, because databases of a single test need not survive a power loss."""
    settings = ["fsync", "synchronous_commit", "full_page_writes"]
    fixed = "SELECT name FROM pg_settings WHERE name = ANY(%s) AND source = 'command line'"
    with psycopg.connect(admin_database_url, autocommit=True) as connection:
        for setting in settings:
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")
        assert connection.execute(fixed, (settings,)).fetchall() == [], "the command line outranks ALTER SYSTEM"


def _create_database(admin_database_url: str, kind: str, template: str = "template1") -> str:
    """Returns the name of a new database, copied file by file, which is fastest for about 15 MB."""
    name = f"{kind}_{uuid4().hex[:12]}"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    with psycopg.connect(admin_database_url, autocommit=True) as connection:
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    return name


def _urls(admin_database_url: str, name: str, package: str) -> DatabaseUrls:
    admin, role = _with_database(admin_database_url, name), f"attractor_{package}"
    return DatabaseUrls(admin, _with_login(admin, role, f"password-of-{role}"))


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _with_login(url: str, user: str, password: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{parts.hostname}:{parts.port}"))


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where the test's spans are, as those of the service `retrieval`."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(resource=described("retrieval"))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", lambda name: provider.get_tracer(name))
    return exporter
