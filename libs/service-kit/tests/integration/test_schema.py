"""A service and its schema: which versions fit together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

import service_kit.migrate
import service_kit.postgres
from service_kit.migrate import MigrationBlocked, SchemaUnfit, migrate, migrations
from service_kit.postgres import Database
from service_kit.schema import newest_migration, require_schema
from service_kit.settings import DatabaseSettings
from service_kit.wait_for_schema import wait_for_schema

KNOWN = "memory/0031_project_status.sql"


@pytest.fixture
def urls(make_database):
    return make_database("memory")


@pytest.fixture
def start(urls):
    """await start(): what a service does first."""

    async def start() -> None:
        await require_schema(DatabaseSettings(database_url=urls.service), "memory")

    return start


@pytest.fixture
def administrator(urls) -> Iterator[psycopg.Connection]:
    with psycopg.connect(urls.admin, autocommit=True) as connection:
        connection.execute("SET search_path = memory")
        yield connection


@pytest.fixture
def upgrade(urls, monkeypatch):
    """upgrade(sql): the schema gets a further migration, which only newer code knows."""

    def apply(text: str) -> None:
        def with_next(package: str) -> Iterator[tuple[str, str]]:
            yield from migrations(package)
            if package == "memory":
                yield "memory/9000_next.sql", text

        with monkeypatch.context() as newer:
            newer.setattr(service_kit.migrate, "migrations", with_next)
            assert migrate(urls.admin, urls.service, "memory", "memory") == ["memory/9000_next.sql"]

    return apply


async def test_a_service_starts_on_the_schema_of_its_version(start):
    await start()


@pytest.mark.parametrize("missing", [KNOWN, "service_kit/0004_signed_events.sql"])
async def test_a_service_does_not_start_before_its_migrations_and_names_them(start, administrator, missing):
    administrator.execute("DELETE FROM migration WHERE name = %s", (missing,))
    with pytest.raises(SchemaUnfit, match=rf"lacks {missing}: run `python -m memory migrate`"):
        await start()


async def test_only_the_first_of_many_missing_migrations_are_named(start, administrator):
    administrator.execute("DELETE FROM migration")
    with pytest.raises(SchemaUnfit, match=r"lacks service_kit/0001_\S+, \S+, \S+ …: run") as refused:
        await start()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "older",
    [
        "REVOKE SELECT ON migration FROM {}",
        "ALTER TABLE migration DROP COLUMN requires",
        "DROP SCHEMA memory CASCADE",
    ],
)
async def test_a_schema_migrated_by_an_earlier_version_is_too_old(start, urls, administrator, older):
    role = sql.Identifier(str(conninfo_to_dict(urls.service)["user"]))
    administrator.execute(sql.SQL(older).format(role))
    with pytest.raises(SchemaUnfit, match="older than this version: run `python -m memory migrate`"):
        await start()


async def test_a_service_starts_on_a_compatible_newer_schema(start, urls, upgrade):
    upgrade("CREATE TABLE addition (id int)")
    await start()
    async with Database(urls.service, 1).opened() as database:
        assert await newest_migration(database, "memory") == "9000_next"


async def test_a_service_starts_on_a_newer_schema_that_drops_only_what_it_no_longer_uses(start, upgrade):
    upgrade(f"-- requires: {KNOWN}\nDROP TABLE world_event CASCADE")
    await start()


async def test_a_service_does_not_start_on_an_incompatible_newer_schema(start, upgrade):
    upgrade("-- Facts move.\n-- requires: memory/9000_next.sql\nDROP TABLE world_event CASCADE")
    with pytest.raises(SchemaUnfit, match=r"has memory/9000_next.sql, for which version \S+ is too old"):
        await start()


async def test_a_service_that_waits_for_its_migrations_says_why_and_continues_when_they_have_run(urls, administrator):
    [digest] = administrator.execute("DELETE FROM migration WHERE name = %s RETURNING sha256", (KNOWN,)).fetchone()
    reasons: asyncio.Queue[str] = asyncio.Queue()
    settings = DatabaseSettings(database_url=urls.service)
    waiting = asyncio.create_task(wait_for_schema(settings, "memory", reasons.put_nowait, pause_seconds=0.01))
    assert f"lacks {KNOWN}" in await reasons.get()
    assert not waiting.done()
    administrator.execute("INSERT INTO migration (name, sha256) VALUES (%s, %s)", (KNOWN, digest))
    await waiting
    assert reasons.empty(), "each reason is told once"


async def test_a_service_waits_for_a_database_that_does_not_let_its_role_in_yet(urls, administrator, monkeypatch):
    monkeypatch.setattr(service_kit.postgres, "POOL_TIMEOUT_SECONDS", 1.0)
    role = sql.Identifier(str(conninfo_to_dict(urls.service)["user"]))
    administrator.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(role))
    reasons: asyncio.Queue[str] = asyncio.Queue()
    settings = DatabaseSettings(database_url=urls.service)
    waiting = asyncio.create_task(wait_for_schema(settings, "memory", reasons.put_nowait, pause_seconds=0.01))
    assert "the database did not give a connection in time" in await reasons.get()
    administrator.execute(sql.SQL("ALTER ROLE {} LOGIN").format(role))
    await waiting


def test_a_migration_waits_for_a_long_transaction_without_making_others_wait(urls, upgrade, monkeypatch):
    """Regression: it waited for as long as the transaction was open, and so did every request that came after it."""
    with psycopg.connect(urls.admin) as reader:
        reader.execute("SELECT FROM memory.memory")
        monkeypatch.setattr(service_kit.migrate, "ATTEMPTS", 2)
        monkeypatch.setattr(service_kit.migrate, "LOCK_MILLISECONDS", 50)
        monkeypatch.setattr(service_kit.migrate, "PAUSE_SECONDS", 0.0)
        with pytest.raises(MigrationBlocked, match=r"memory/9000_next.sql: a long transaction holds its table"):
            upgrade("ALTER TABLE memory ADD COLUMN next int")
        monkeypatch.setattr(service_kit.migrate.time, "sleep", lambda _: reader.rollback())
        upgrade("ALTER TABLE memory ADD COLUMN next int")
