"""The three engines together, for the launcher and for the test session of the repository."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from embedded.data_folder import DataFolder
from embedded.engines.engine import Engine
from embedded.engines.object_store import ObjectStoreAccess, ObjectStoreEngine, ObjectStorePorts
from embedded.engines.postgres import DATABASE, Postgres
from embedded.engines.postgres_home import PostgresHome
from embedded.engines.valkey import Valkey
from embedded.errors import PortLost
from embedded.ports import LOOPBACK, free_port
from embedded.processes.child import Child

CHOICES = 3
_NOTED = "engine-ports.json"


@dataclass(frozen=True)
class EnginePorts:
    """Where the engines listen, all on the loopback interface."""

    postgres: int
    valkey: int
    object_store: ObjectStorePorts

    @classmethod
    def free(cls) -> EnginePorts:
        """Chooses ports that are free now."""
        ports: list[int] = []
        for _ in range(7):
            ports.append(free_port(ports))
        return cls(ports[0], ports[1], ObjectStorePorts(*ports[2:]))

    def note(self, folder: DataFolder) -> None:
        """Records where the engines listen, for other processes on this data folder."""
        (folder.path / _NOTED).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def noted(cls, folder: DataFolder) -> EnginePorts:
        """Returns the recorded ports of the last start."""
        noted_ports = json.loads((folder.path / _NOTED).read_text(encoding="utf-8"))
        return cls(noted_ports["postgres"], noted_ports["valkey"], ObjectStorePorts(**noted_ports["object_store"]))


class Engines:
    """PostgreSQL, Valkey and SeaweedFS on one data folder."""

    def __init__(self, folder: DataFolder, ports: EnginePorts) -> None:
        self.ports = ports
        self.postgres = Postgres(folder, ports.postgres)
        self.valkey = Valkey(folder, ports.valkey)
        self.store = ObjectStoreEngine(folder, ports.object_store)
        # The database comes last: on the first start it takes a second to create its cluster, while the others start.
        self.all: tuple[Engine, ...] = (self.valkey, self.store, self.postgres)

    @property
    def admin_database_url(self) -> str:
        """The URL of the role `postgres` on the database `attractor`."""
        return self.postgres.url()

    def database_url(self, role: str, password: str) -> str:
        """Returns the URL of a service's role on the database `attractor`; the service's migration creates the role."""
        return f"postgresql://{role}:{password}@{LOOPBACK}:{self.ports.postgres}/{DATABASE}"

    @property
    def admin_redis_url(self) -> str:
        """The URL of the Redis administrator; no service has it."""
        return self.valkey.url()

    def redis_url(self, user: str) -> str:
        """Returns the URL of one of the users in `redis_acl`."""
        return self.valkey.url(user)

    @property
    def object_store(self) -> ObjectStoreAccess:
        return self.store.access

    @property
    def children(self) -> list[Child]:
        return [engine.child for engine in self.all if engine.child]

    def launch(self) -> None:
        """Starts all three without waiting. Call it from the main thread."""
        for engine in self.all:
            engine.launch()

    def wait_ready(self) -> None:
        for engine in self.all:
            engine.wait_ready()

    def stop(self) -> None:
        """Stops all three concurrently and waits for them."""
        for child in self.children:
            child.ask_to_stop()
        for engine in self.all:
            engine.stop()

    @classmethod
    def running(cls, folder: DataFolder) -> Engines | None:
        """Returns the engines that another process runs on the folder, to connect to them; None if there are none."""
        return cls(folder, EnginePorts.noted(folder)) if folder.holder() else None

    @classmethod
    @contextlib.contextmanager
    def start(cls, data_dir: Path, ports: EnginePorts | None = None) -> Iterator[Engines]:
        """Locks the folder, starts the engines on it and stops them at the end; the data is kept.

        Raises EmbeddedError, whose text is one line for the user.
        """
        folder = DataFolder(data_dir)
        folder.create()
        with folder.lock():
            folder.end_leftovers()
            engines = cls._ready(folder, ports)
            try:
                yield engines
            finally:
                engines.stop()
                folder.record(())

    @classmethod
    def _ready(cls, folder: DataFolder, ports: EnginePorts | None) -> Engines:
        """Starts the engines; if it chose the ports, retries with others when one has been taken in the meantime."""
        for left in reversed(range(1 if ports else CHOICES)):
            engines = cls(folder, ports or EnginePorts.free())
            try:
                engines.launch()
                folder.record(engines.children)
                engines.wait_ready()
            except BaseException as error:
                engines.stop()
                folder.record(())
                if not (left and isinstance(error, PortLost)):
                    raise
            else:
                return engines
        raise AssertionError("the last try returns or raises")

    @classmethod
    @contextlib.contextmanager
    def temporary(cls) -> Iterator[Engines]:
        """Runs engines on a temporary folder that is deleted at the end, for test sessions."""
        place = Path(tempfile.mkdtemp(prefix="attractor-")).resolve()
        place.chmod(0o711)
        try:
            with cls.start(place) as engines:
                yield engines
        finally:
            shutil.rmtree(PostgresHome.folder_of(place), ignore_errors=True)
            shutil.rmtree(place, ignore_errors=True)
