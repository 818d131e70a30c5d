"""The embedded stack as an installation to back up."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

import psycopg
from pydantic import SecretStr

from backup.server import ROLE, prepare_server
from backup.shelf.folder import BackupShelf
from backup.take import BackupTaken, Installation, take
from embedded.backups.tools import tools
from embedded.data_folder import DataFolder
from embedded.engines import Engines
from embedded.engines.object_store import ObjectStoreAccess
from embedded.errors import EmbeddedError, NothingToBackUp
from embedded.progress import StartProgress
from service_kit.problems import Unavailable
from service_kit.settings import ObjectStoreSettings

KEPT_FILES = ("secrets.json", "admin.key", "examples-ingested")


def object_store_settings(access: ObjectStoreAccess) -> ObjectStoreSettings:
    return ObjectStoreSettings(
        s3_endpoint=access.endpoint,
        s3_access_key=access.access_key,
        s3_secret_key=SecretStr(access.secret_key),
        s3_bucket=access.bucket,
    )


def back_up(folder: DataFolder, shelf: BackupShelf, days: float, progress: StartProgress) -> BackupTaken:
    """Takes a backup of a running or stopped stack.

    Raises EmbeddedError or BackupError, whose text is one line for the user.
    """
    if not (folder.path / "secrets.json").exists():
        raise NothingToBackUp(folder.path)
    with _engines(folder) as engines:
        _prepare(engines, folder.credentials.named(ROLE))
        try:
            return take(_installation(folder, engines), tools(), shelf, days, progress)
        except Unavailable as error:
            raise EmbeddedError(f"{error} (log: {folder.logs / 'object-store.log'})") from error


@contextlib.contextmanager
def _engines(folder: DataFolder) -> Iterator[Engines]:
    """Yields the engines of the running stack, or starts them temporarily."""
    if running := Engines.running(folder):
        yield running
    else:
        with Engines.start(folder.path) as engines:
            yield engines


def _prepare(engines: Engines, password: str) -> None:
    try:
        with psycopg.connect(engines.admin_database_url, autocommit=True) as admin:
            prepare_server(admin, password)
    except psycopg.Error as error:
        raise EmbeddedError(f"unexpected response from PostgreSQL: {str(error).partition(chr(10))[0]}") from error


def _installation(folder: DataFolder, engines: Engines) -> Installation:
    def log_moved() -> None:
        if pid := folder.holder().get("pid"):
            os.kill(pid, signal.SIGCHLD)  # wakes the launcher, as the end of a child would

    return Installation(
        database_url=engines.database_url(ROLE, folder.credentials.named(ROLE)),
        objects=object_store_settings(engines.object_store),
        record=folder.path,
        files=tuple(folder.path / name for name in KEPT_FILES),
        log_moved=log_moved,
    )
