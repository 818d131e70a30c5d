"""How long the migrations since the recorded version keep others from a table that has data, by who has to wait.

BENCH_COPIES (1000) copies of the recorded installation's workspace fill the tables; keys begin with the workspace.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from benchmarks.figures import Row
from database_servers import SCHEMAS, server
from psycopg import sql
from upgrade.recording import FOLDER, create, load, read

from service_kit.migrate import EXTENSIONS, migrations

COPIES = int(os.environ.get("BENCH_COPIES", "1000"))
PAUSE_SECONDS = 0.002
AIM, LISTED = "1 s", 3
ALL, WRITERS, SAME_ROWS = "readers and writers", "writers", "writers of the same rows"
WAITING = {
    "AccessExclusiveLock": ALL,
    "ExclusiveLock": WRITERS,
    "ShareLock": WRITERS,
    "ShareRowExclusiveLock": WRITERS,
    "RowExclusiveLock": SAME_ROWS,  # if the migration has changed any
}
TABLES = """
    SELECT n.nspname, c.relname, array_agg(a.attname::text) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND n.nspname = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY 1, 2 HAVING 'workspace_id' = ANY(array_agg(a.attname::text))
"""
HELD = """
    SELECT c.oid::bigint, c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE l.pid = %s AND l.granted AND c.relkind = 'r' AND c.reltuples > 0
      AND n.nspname = ANY(%s) AND l.mode = ANY(%s)
"""
CHANGED = "SELECT relid::bigint FROM pg_stat_xact_user_tables WHERE n_tup_upd + n_tup_del > 0"
Lock = tuple[int, str, str]
"""A table's id, its name and the lock's mode."""


@dataclass(frozen=True)
class Migrated:
    """A migration, the seconds of its transaction and those that the server computed.

    `held`: by who has to wait, for how long at most, and the tables.
    """

    name: str
    seconds: float
    computing: float
    held: Mapping[str, tuple[float, list[str]]]


@dataclass
class Watched:
    """When locks of a session were seen first. One that is younger than the last look has not been seen."""

    first: dict[Lock, float] = field(default_factory=dict)
    last: float = 0.0
    looked: threading.Event = field(default_factory=threading.Event)

    def look(self, connection: psycopg.Connection, pid: int) -> None:
        now = time.perf_counter()
        for lock in connection.execute(HELD, (pid, list(SCHEMAS), list(WAITING))).fetchall():
            self.first.setdefault(lock, now)
        self.last = now
        self.looked.set()


def migration_locks(folder: Path) -> list[Row]:
    """Returns the longest locks on tables with rows, by who has to wait for them."""
    with (
        server(folder) as engine,
        psycopg.connect(engine.url(), autocommit=True) as connection,
        psycopg.connect(engine.url(), autocommit=True) as watcher,
    ):
        schema = json.loads(read(FOLDER / "schema.json.gz"))
        create(connection, schema)
        load(connection, read(FOLDER / "rows.sql.gz"))
        rows = _fill(connection)
        for extension in map(sql.Identifier, EXTENSIONS):
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {} SCHEMA public").format(extension))
        applied = {name for texts in schema["migrations"].values() for name, _ in texts}
        ran = [one for service in SCHEMAS for one in _migrate(connection, watcher, service, applied)]
    locking = [one for one in ran if one.held]
    found = (f"{len(ran)} migrations, {rows:,} rows", f"{len(locking)} lock a table with rows", "")
    return [found, *_by_who_waits(locking)]


def _by_who_waits(locking: list[Migrated]) -> Iterator[Row]:
    for who in (ALL, WRITERS, SAME_ROWS):
        ranked = sorted((one for one in locking if who in one.held), key=lambda one: -one.held[who][0])
        for one in ranked[:LISTED]:
            seconds, tables = one.held[who]
            what = f"{who} wait: {one.name} ({', '.join(tables)})"[:100]
            yield what, f"{seconds:.2f} s (CPU of all {one.computing:.2f} s)", AIM


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


def _migrate(
    connection: psycopg.Connection, watcher: psycopg.Connection, service: str, applied: set[str]
) -> list[Migrated]:
    """Applies what is new, each in a transaction, as `service_kit.migrate` does."""
    connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(service)))
    done, pid = [], connection.info.backend_pid
    backend = psutil.Process(pid)
    for name, text in [*migrations("service_kit"), *migrations(service)]:
        if name not in applied:
            with _watched(watcher, pid) as watched:
                computed, began = sum(backend.cpu_times()[:2]), time.perf_counter()
                with connection.transaction():
                    connection.execute(text.encode())
                    latest = max(began, watched.last)
                    own = connection.execute(HELD, (pid, list(SCHEMAS), list(WAITING))).fetchall()
                    changed = {identifier for (identifier,) in connection.execute(CHANGED).fetchall()}
                ended = time.perf_counter()
            since: dict[Lock, float] = dict.fromkeys(own, latest)
            since |= watched.first
            locks = {lock: ended - seen for lock, seen in since.items()}
            computing = sum(backend.cpu_times()[:2]) - computed
            done.append(Migrated(name, ended - began, computing, _held(locks, changed)))
    return done


@contextmanager
def _watched(watcher: psycopg.Connection, pid: int) -> Iterator[Watched]:
    """Looks at the session's locks every few milliseconds, from another one."""
    watched, over = Watched(), threading.Event()

    def watch() -> None:
        while not over.is_set():
            watched.look(watcher, pid)
            over.wait(PAUSE_SECONDS)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        watched.looked.wait()
        yield watched
    finally:
        over.set()
        thread.join()


def _held(locks: Mapping[Lock, float], changed: set[int]) -> dict[str, tuple[float, list[str]]]:
    held: dict[str, tuple[float, list[str]]] = {}
    for (identifier, table, mode), seconds in locks.items():
        who = WAITING[mode]
        if who != SAME_ROWS or identifier in changed:
            longest, tables = held.get(who, (0.0, []))
            held[who] = max(longest, seconds), sorted({*tables, table})
    return held
