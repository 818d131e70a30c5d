"""How long the migrations since the recorded version keep others from a table that has data.

BENCH_COPIES (1000) copies of the recorded installation's workspace fill the tables; keys begin with the workspace.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from benchmarks.figures import Row
from database_servers import SCHEMAS, server
from psycopg import sql
from upgrade.recording import FOLDER, create, load, read

from service_kit.migrate import EXTENSIONS, migrations

COPIES = int(os.environ.get("BENCH_COPIES", "1000"))
TABLES = """
    SELECT n.nspname, c.relname, array_agg(a.attname::text) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND n.nspname = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY 1, 2 HAVING 'workspace_id' = ANY(array_agg(a.attname::text))
"""
# What writes (RowExclusiveLock) have to wait for; of a table's indexes nothing else is locked first.
HELD = """
    SELECT c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    WHERE l.pid = pg_backend_pid() AND l.granted AND c.relkind = 'r' AND c.reltuples > 0
      AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


@dataclass(frozen=True)
class Migrated:
    """A migration, the seconds of its transaction, and the tables with data that others had to wait for."""

    name: str
    seconds: float
    tables: list[str]


def migration_locks(folder: Path) -> list[Row]:
    """Returns the longest transactions among the migrations that lock a table with rows: no lock is held for longer."""
    with server(folder) as engine, psycopg.connect(engine.url(), autocommit=True) as connection:
        schema = json.loads(read(FOLDER / "schema.json.gz"))
        create(connection, schema)
        load(connection, read(FOLDER / "rows.sql.gz"))
        rows = _fill(connection)
        for extension in map(sql.Identifier, EXTENSIONS):
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {} SCHEMA public").format(extension))
        applied = {name for texts in schema["migrations"].values() for name, _ in texts}
        ran = [one for service in SCHEMAS for one in _migrate(connection, service, applied)]
    blocking = sorted((one for one in ran if one.tables), key=lambda one: -one.seconds)
    return [
        (f"{len(ran)} migrations, {rows:,} rows", f"{len(blocking)} of them lock a table with rows", ""),
        *(
            (f"longest lock: {one.name} ({', '.join(one.tables)})"[:100], f"at most {one.seconds:.2f} s", "1 s")
            for one in blocking[:5]
        ),
    ]


def _fill(connection: psycopg.Connection) -> int:
    """Copies the rows of the recorded workspaces; returns how many rows there are."""
    connection.execute("SET session_replication_role = replica")
    total = 0
    for schema, table, columns in connection.execute(TABLES, (list(SCHEMAS),)).fetchall():
        others = sql.SQL(", ").join(sql.Identifier(column) for column in columns if column != "workspace_id")
        statement = sql.SQL(
            "INSERT INTO {table} (workspace_id, {others}) OVERRIDING SYSTEM VALUE"
            " SELECT md5(workspace_id::text || copy)::uuid, {others} FROM {table}, generate_series(1, %s) AS copy"
            " ON CONFLICT DO NOTHING"
        ).format(table=sql.Identifier(schema, table), others=others)
        total += connection.execute(statement, (COPIES,)).rowcount
    connection.execute("SET session_replication_role = origin")
    connection.execute("ANALYZE")
    return total


def _migrate(connection: psycopg.Connection, service: str, applied: set[str]) -> list[Migrated]:
    """Applies what is new, each in a transaction, as `service_kit.migrate` does."""
    connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(service)))
    done = []
    for name, text in [*migrations("service_kit"), *migrations(service)]:
        if name not in applied:
            with connection.transaction():
                began = time.perf_counter()
                connection.execute(text.encode())
                held = connection.execute(HELD).fetchall()
                seconds = time.perf_counter() - began
            done.append(Migrated(name, seconds, sorted({table for table, _ in held})))
    return done
