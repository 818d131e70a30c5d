"""Numbered plain-SQL migrations, a schema and a login role per service.

They run as the administrator, who owns the tables, so that row-level security binds the service's role. A run is safe
to repeat and to race: one advisory lock serialises all services.

Code of an earlier version can run on the schema, unless a migration says `-- requires: memory/0031_project_status.sql`:
then only code that knows the named migration can. One that drops or renames says so.

Services go on while their schema is migrated. A migration that waits for a table makes everyone wait who comes later,
so it gives up soon, lets them pass, and is tried again.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from importlib import resources

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

LOCK = 4_201_871_509
REQUIRES = re.compile(r"^-- requires: (\S+)$", re.MULTILINE)
STATEMENT_TIMEOUT = "30s"
LOCK_MILLISECONDS, PAUSE_SECONDS, ATTEMPTS = 1000, 1.0, 60
EXTENSIONS = ("vector", "pg_trgm", "unaccent", "btree_gin")


class MigrationChanged(Exception):
    """A migration that was already applied has changed since: write a new one instead."""


class MigrationBlocked(Exception):
    """A migration did not get the lock of a table that a long transaction holds; nothing of it was applied."""


class SchemaUnfit(Exception):
    """The service cannot run on its schema; the message is one line that says what to do."""


def migrations(package: str) -> Iterator[tuple[str, str]]:
    """Returns (name, SQL) of each file in the package's `migrations` folder, in order; none without such a folder."""
    folder = resources.files(package).joinpath("migrations")
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(".sql"):
                yield f"{package}/{file.name}", file.read_text(encoding="utf-8")


def short_name(migration: str) -> str:
    """Returns `0031_project_status` for `memory/0031_project_status.sql`."""
    return migration.rpartition("/")[2].removesuffix(".sql")


def migrate(admin_url: str, service_url: str, schema: str, package: str) -> list[str]:
    """Creates role and schema where missing, applies what is new, returns its names.

    Raises MigrationChanged, MigrationBlocked.
    """
    login = conninfo_to_dict(service_url)
    role, password = str(login["user"]), str(login["password"])
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        _prepare(connection, role, password, schema)
        return _apply(connection, schema, [*migrations("service_kit"), *migrations(package)])


def _prepare(connection: psycopg.Connection, role: str, password: str, schema: str) -> None:
    name, place = sql.Identifier(role), sql.Identifier(schema)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
    statements: list[sql.SQL | sql.Composed] = [
        sql.SQL("ALTER ROLE {} WITH LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD {}").format(
            name, sql.Literal(password)
        ),
        sql.SQL("ALTER ROLE {} SET search_path = {}, public").format(name, place),
        sql.SQL("ALTER ROLE {} SET statement_timeout = {}").format(name, STATEMENT_TIMEOUT),
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(place),
        sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
        sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(place, name),
        *(sql.SQL("CREATE EXTENSION IF NOT EXISTS {} SCHEMA public").format(sql.Identifier(one)) for one in EXTENSIONS),
        sql.SQL(
            "CREATE TABLE IF NOT EXISTS {}.migration "
            "(name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        ).format(place),
        sql.SQL("ALTER TABLE {}.migration ADD COLUMN IF NOT EXISTS requires text").format(place),
        sql.SQL("GRANT SELECT ON {}.migration TO {}").format(place, name),
        sql.SQL("ALTER DEFAULT PRIVILEGES IN SCHEMA {} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {}").format(
            place, name
        ),
        sql.SQL("ALTER DEFAULT PRIVILEGES IN SCHEMA {} GRANT USAGE, SELECT ON SEQUENCES TO {}").format(place, name),
        sql.SQL("SET search_path = {}, public").format(place),
    ]
    for statement in statements:
        connection.execute(statement)


def _apply(connection: psycopg.Connection, schema: str, wanted: list[tuple[str, str]]) -> list[str]:
    table = sql.Identifier(schema, "migration")
    rows = connection.execute(sql.SQL("SELECT name, sha256 FROM {}").format(table)).fetchall()
    applied, new = {str(name): str(digest) for name, digest in rows}, []
    for name, text in wanted:
        digest = hashlib.sha256(text.encode()).hexdigest()
        if name not in applied:
            required = REQUIRES.search(text)
            _apply_one(connection, table, text, (name, digest, required and required[1]))
            new.append(name)
        elif applied[name] != digest:
            raise MigrationChanged(f"{name} was already applied and has changed since: write a new one instead")
    return new


def _apply_one(
    connection: psycopg.Connection, table: sql.Identifier, text: str, row: tuple[str, str, str | None]
) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with connection.transaction():
                connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(LOCK_MILLISECONDS)))
                connection.execute(text.encode())
                connection.execute(
                    sql.SQL("INSERT INTO {} (name, sha256, requires) VALUES (%s, %s, %s)").format(table), row
                )
        except psycopg.errors.LockNotAvailable as error:
            if attempt == ATTEMPTS:
                raise MigrationBlocked(
                    f"{row[0]}: a long transaction holds its table; end it (docs/runbooks.md), and migrate again"
                ) from error
            time.sleep(PAUSE_SECONDS)  # PostgreSQL does not tell when a lock is free without queueing for it
        else:
            return
