"""PostgreSQL servers of a test: single ones, a standby, and PgBouncer in front of one."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from held_port import held_port

from embedded.backups.tools import tools
from embedded.data_folder import DataFolder
from embedded.engines.postgres import Postgres
from embedded.processes.child import Child, Command

SCHEMAS = ("gateway", "ingestion", "knowledge_graph", "memory", "orchestrator", "retrieval")


@contextmanager
def server(folder: Path, of: Postgres | None = None) -> Iterator[Postgres]:
    """Runs a server with a database `attractor`; with `of`, as its standby, which has the same password."""
    data = DataFolder(folder)
    data.create()
    with held_port() as port:
        engine = Postgres(data, port)
        if of is not None:
            shutil.copy(of._folder.credentials.path, data.credentials.path)
            engine = Postgres(DataFolder(folder), port)
            _copy(of, engine)
        engine.launch()
        try:
            engine.wait_ready()
            yield engine
        finally:
            engine.stop()


def _copy(primary: Postgres, standby: Postgres) -> None:
    standby.home.prepare()
    part = standby.home.folder / "cluster.part"
    follow = ("--write-recovery-conf", "--create-slot", "--slot=standby", "--checkpoint=fast")
    tools().run("pg_basebackup", *follow, "--pgdata", part, database_url=primary.url("postgres"))
    standby.home.end_making(part)


def address(engine: Postgres) -> str:
    """Returns host:port."""
    parts = urlsplit(engine.url())
    return f"{parts.hostname}:{parts.port}"


def wait_for_standby(primary: Postgres) -> None:
    """From now on, a commit is acknowledged once the standby has it too."""
    with psycopg.connect(primary.url(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
        while not connection.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone():
            connection.execute("SELECT pg_sleep(0.05)")


def pgbouncer_program() -> str:
    """Returns the program; skips the test where there is none, as old ones cannot prepare statements."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not installed (.ci/run does it)")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, told.split()[1].split(".")[:2]))
    if version < (1, 22):
        pytest.skip(f"pgbouncer {told.split()[1]} cannot prepare statements in transaction mode: 1.22 can")
    return program


@contextmanager
def pgbouncer(
    program: str, folder: Path, behind: str, passwords: Mapping[str, str], connections: int = 3
) -> Iterator[str]:
    """Runs PgBouncer in transaction mode before a server; both are host:port. `connections`: to it, for each user."""
    users = folder / "users.txt"
    users.write_text("".join(f'"{user}" "{password}"\n' for user, password in passwords.items()), encoding="utf-8")
    host, port = behind.split(":")
    with held_port() as own:
        settings = {
            "listen_addr": "127.0.0.1",
            "listen_port": own,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": users,
            "pool_mode": "transaction",
            "default_pool_size": connections,
            "max_client_conn": 500,
            "server_idle_timeout": 5,
            **({"user": "nobody"} if os.geteuid() == 0 else {}),
        }
        if os.geteuid() == 0:
            os.chown(users, pwd.getpwnam("nobody").pw_uid, -1)
        lines = [f"{name} = {value}" for name, value in settings.items()]
        config = folder / "pgbouncer.ini"
        config.write_text(f"[databases]\n* = host={host} port={port}\n[pgbouncer]\n" + "\n".join(lines) + "\n")
        child = Child(
            Command("pgbouncer", [program, os.fspath(config)], folder / "pgbouncer.log", dict(os.environ), folder)
        )
        try:
            yield f"127.0.0.1:{own}"
        finally:
            child.stop()
