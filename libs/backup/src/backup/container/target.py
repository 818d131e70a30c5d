"""Empty volumes of Compose, to restore to. The services are stopped; object store and Redis run."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from redis import Redis

from backup.container.settings import RestoreSettings
from backup.errors import TargetHasData, ToolFailed
from backup.restore import ServerEnded
from backup.tools import Tools
from service_kit.objects import ObjectStore
from service_kit.settings import ObjectStoreSettings

WAY_OUT = "remove the volumes of postgres and seaweedfs first (docs/operations.md)"
_POLL_SECONDS = 0.2
_PART = "restore.part"
_VERSION = "PG_VERSION"  # without it, PostgreSQL's image neither starts a server nor makes a new cluster


class EmptyVolumes:
    """The target of a restore (`backup.restore.RestoreTarget`). `work` is a folder for temporary files."""

    def __init__(self, settings: RestoreSettings, tools: Tools, work: Path = Path("/tmp")) -> None:  # noqa: S108  its own tmpfs
        self._settings, self._tools, self._work = settings, tools, work

    def refuse_data(self) -> None:
        if self.cluster.exists():
            found = sorted(one.name for one in self.cluster.iterdir() if one.name not in {_PART, "lost+found"})
            if found:
                raise TargetHasData(self.cluster, found[0], WAY_OUT)
        with contextlib.closing(ObjectStore(self._settings)) as store:
            store.ensure_bucket()
            if folders := store.folders():
                raise TargetHasData("the object store", folders[0], WAY_OUT)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        with Redis.from_url(self._settings.redis_url.get_secret_value()) as redis:
            redis.flushall()
        complete = False
        try:
            yield
            self._set_password()
            complete = True
        finally:
            self.stop_server()
            if not complete:
                (self.cluster / _VERSION).unlink(missing_ok=True)

    def keep(self, file: Path) -> None:
        """Does nothing: in Compose the secrets are in .env, and no file is kept with the database."""

    @property
    def cluster(self) -> Path:
        return self._settings.pgdata

    def place_cluster(self, make: Callable[[Path], None]) -> None:
        """Moves the version last: what is incomplete without it is never started."""
        self.cluster.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.cluster.chmod(0o700)
        part = self.cluster / _PART
        shutil.rmtree(part, ignore_errors=True)
        make(part)
        for place in sorted(part.iterdir(), key=lambda one: one.name == _VERSION):
            place.rename(self.cluster / place.name)
        part.rmdir()

    def start_server(self) -> None:
        rules, log = self._work / "restore_hba.conf", self._work / "restore.log"
        rules.write_text("local all all trust\n", encoding="utf-8")
        log.unlink(missing_ok=True)
        options = {"listen_addresses": "", "unix_socket_directories": self._work, "hba_file": rules}
        arguments_text = " ".join(f"-c {name}='{value}'" for name, value in options.items())
        try:
            self._pg_ctl("start", f"--log={log}", "-o", arguments_text)
            while not self._accepts_connections():  # pg_ctl does not wait for the end of the log
                self._pg_ctl("status")  # fails if the server has ended
                time.sleep(_POLL_SECONDS)
        except ToolFailed as error:
            raise ServerEnded(str(error), log.read_text(encoding="utf-8", errors="replace")) from error

    def _accepts_connections(self) -> bool:
        try:
            psycopg.connect(self.admin_database_url).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop_server(self) -> None:
        if (self.cluster / "postmaster.pid").exists():
            self._pg_ctl("stop", "--mode=fast")

    def _pg_ctl(self, command: str, *arguments: str) -> None:
        self._tools.run("pg_ctl", command, "--pgdata", self.cluster, *arguments)

    @property
    def admin_database_url(self) -> str:
        return f"postgresql:///attractor?{urlencode({'host': self._work, 'user': self._admin['user']})}"

    @property
    def _admin(self) -> dict[str, str]:
        parts = conninfo_to_dict(self._settings.admin_database_url.get_secret_value())
        return {name: str(value) for name, value in parts.items()}

    def _set_password(self) -> None:
        """Sets the superuser's password to that of .env, which may be newer; migrations set the others."""
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
        with psycopg.connect(self.admin_database_url, autocommit=True) as admin:
            admin.execute(statement.format(sql.Identifier(self._admin["user"]), sql.Literal(self._admin["password"])))

    def object_store(self) -> ObjectStoreSettings:
        return self._settings
