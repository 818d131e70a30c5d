"""An empty data folder, to restore to."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from backup.errors import TargetHasData
from backup.restore import ServerEnded
from embedded.backups.installation import KEPT_FILES, object_store_settings
from embedded.backups.state import begin_restore, end_copying
from embedded.data_folder import DataFolder
from embedded.engines import EnginePorts, Engines
from embedded.engines.postgres_home import PostgresHome
from embedded.errors import ChildCrashed
from service_kit.settings import ObjectStoreSettings

RECOVERY_SECONDS = 24 * 3600.0
WAY_OUT = "move the folder away, set ATTRACTOR_DATA to another one, or delete all data with: make reset"


class EmptyDataFolder:
    """The target of a restore (`backup.restore.RestoreTarget`)."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._opened: Engines | None = None

    def refuse_data(self) -> None:
        outside = PostgresHome.folder_of(self._folder.path)
        names = ("valkey", "object-store", *KEPT_FILES)
        places = [self._folder.path / name for name in names]
        if self._folder.logs.exists():  # else the folder is new, and a database outside a deleted one's
            places.insert(0, outside / "cluster")
        if found := next((place for place in places if place.exists()), None):
            raise TargetHasData(self._folder.path, found.name, WAY_OUT)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        self._folder.create()
        with self._folder.lock():
            begin_restore(self._folder.path)
            try:
                yield
            finally:
                if self._opened:
                    self._opened.stop()
            end_copying(self._folder.path)

    def keep(self, file: Path) -> None:
        shutil.copyfile(file, self._folder.path / file.name)
        (self._folder.path / file.name).chmod(0o600)

    @property
    def cluster(self) -> Path:
        return self._engines.postgres.home.cluster

    def place_cluster(self, make: Callable[[Path], None]) -> None:
        home = self._engines.postgres.home
        home.prepare()
        part = home.folder / "cluster.part"
        shutil.rmtree(part, ignore_errors=True)
        make(part)
        home.end_making(part)

    def start_server(self) -> None:
        server = self._engines.postgres
        server.launch()
        try:
            server.wait_ready(RECOVERY_SECONDS)
        except ChildCrashed as error:
            raise ServerEnded(str(error), server.child.log_tail() if server.child else "") from error

    def stop_server(self) -> None:
        self._engines.postgres.stop()

    @property
    def admin_database_url(self) -> str:
        return self._engines.admin_database_url

    def object_store(self) -> ObjectStoreSettings:
        self._engines.store.launch()
        self._engines.store.wait_ready()
        return object_store_settings(self._engines.object_store)

    @property
    def _engines(self) -> Engines:
        """The engines, whose passwords are those of the restored files."""
        if self._opened is None:
            self._opened = Engines(self._folder, EnginePorts.free())
        return self._opened
