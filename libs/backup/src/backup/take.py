"""Backup of a running or stopped stack."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from psycopg import sql

from backup.errors import NothingToBackUp, ToolFailed
from backup.log import keep_log_in, log_folder
from backup.manifest import (
    OBJECTS,
    BackupManifest,
    CopiedObject,
    read_objects,
    sha256_of,
    write_manifest,
    write_objects,
)
from backup.object_copies import ObjectCopies
from backup.shelf import BackupShelf
from backup.tools import ROLE, SLOT, connection, environment, major_version, run_tool
from contracts.registry import CONFIRM_WORKSPACE_DELETION, GATEWAY
from embedded.data_folder import DataFolder
from embedded.engines import Engines
from embedded.errors import EmbeddedError
from embedded.progress import StartProgress
from service_kit.health import VERSION
from service_kit.problems import Unavailable

FULL_EVERY = timedelta(days=7)
KEPT_FILES = ("secrets.json", "admin.key", "examples-ingested")
_SCHEMAS = [service.replace("-", "_") for service in (GATEWAY, *CONFIRM_WORKSPACE_DELETION)]


@dataclass(frozen=True)
class BackupTaken:
    """A completed backup; `expired` are the names of the deleted older backups."""

    manifest: BackupManifest
    expired: list[str]


def take(folder: DataFolder, shelf: BackupShelf, days: float, progress: StartProgress) -> BackupTaken:
    """Takes a backup and deletes those that no moment of the last `days` needs.

    The backup is full if the log starts with it or the last full one is a week old, and incremental otherwise. Objects
    are copied before and after the database, so the copies are a superset of what the database names, and nothing has
    to stop.

    Raises EmbeddedError, whose text is one line for the user.
    """
    if not (folder.path / "secrets.json").exists():
        raise NothingToBackUp(folder.path)
    with shelf.locked(), _engines(folder) as engines:
        shelf.clear()
        try:
            manifest = _Taking(folder, shelf, engines, progress).take()
        except psycopg.Error as error:
            raise EmbeddedError(f"unexpected response from PostgreSQL: {str(error).partition(chr(10))[0]}") from error
        except Unavailable as error:
            raise EmbeddedError(f"{error} (log: {folder.logs / 'object-store.log'})") from error
        return BackupTaken(manifest, shelf.expire(days))


@contextlib.contextmanager
def _engines(folder: DataFolder) -> Iterator[Engines]:
    """Yields the engines of the running stack, or starts them temporarily."""
    if running := Engines.running(folder):
        yield running
    else:
        with Engines.start(folder.path) as engines:
            yield engines


class _Taking:
    def __init__(self, folder: DataFolder, shelf: BackupShelf, engines: Engines, progress: StartProgress) -> None:
        self._folder, self._shelf, self._engines, self._progress = folder, shelf, engines, progress
        self._password = folder.credentials.named(ROLE)
        self._began = datetime.now(UTC)
        self._name = f"{self._began:%Y%m%dT%H%M%S%fZ}"

    def take(self) -> BackupManifest:
        place = self._shelf.folder(self._name)
        with psycopg.connect(self._engines.admin_database_url, autocommit=True) as admin:
            full = self._full_one(admin)
            place.mkdir(mode=0o700)
            copies = ObjectCopies(self._engines.object_store, self._shelf)
            try:
                with self._progress.step("copying objects"):
                    first = copies.fetch(self._known())
                with self._progress.step("copying the database"):
                    base = self._copy_database(place / "database", full)
                    database_at = datetime.now(UTC)
                with self._progress.step("copying the objects added meanwhile"):
                    objects = first | copies.fetch(first)
            finally:
                copies.close()
            write_objects(place, objects.values())
            with self._progress.step("verifying the copy"):
                run_tool("pg_verifybackup", "--quiet", place / "database")
            manifest = self._manifest(admin, place, base, database_at, objects)
            os.sync()
            write_manifest(place, manifest)
            _tell(admin, manifest)
        return manifest

    def _full_one(self, admin: psycopg.Connection) -> BackupManifest | None:
        """Returns the full backup to build on; None if a new one, with a new log, starts."""
        self._prepare_role(admin)
        log = log_folder(self._folder.path)
        slot = admin.execute("SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s", (SLOT,)).fetchone()
        kept = slot is not None and slot[0] != "lost" and log is not None and log.parent.parent == self._shelf.path
        if not kept or log is None or not log.exists():
            self._begin_log(admin)
            return None
        fulls = [one for one in self._shelf.backups() if one.kind == "full" and one.log == log.name]
        return fulls[-1] if fulls else None

    def _prepare_role(self, admin: psycopg.Connection) -> None:
        if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is None:
            admin.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(ROLE)))
        admin.execute(
            sql.SQL("ALTER ROLE {} WITH LOGIN REPLICATION NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}").format(
                sql.Identifier(ROLE), sql.Literal(self._password)
            )
        )

    def _begin_log(self, admin: psycopg.Connection) -> None:
        """Makes the server keep its log from now on, and the launcher of a running stack receive it."""
        admin.execute(
            "SELECT pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots"
            " WHERE slot_name = %s AND active_pid IS NOT NULL",
            (SLOT,),
        )
        admin.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", (SLOT,)
        )
        admin.execute("SELECT pg_create_physical_replication_slot(%s, true)", (SLOT,))
        admin.execute("ALTER SYSTEM SET summarize_wal = on")  # incremental backups need the summaries
        admin.execute("SELECT pg_reload_conf()")
        log = self._shelf.log(self._name)
        log.mkdir(mode=0o700, parents=True)
        keep_log_in(self._folder.path, log)
        if pid := self._folder.holder().get("pid"):
            os.kill(pid, signal.SIGCHLD)  # wakes the launcher, as the end of a child would

    def _known(self) -> dict[str, CopiedObject]:
        last = self._shelf.backups()[-1:]
        return read_objects(self._shelf.folder(last[0].name)) if last else {}

    def _copy_database(self, place: Path, full: BackupManifest | None) -> BackupManifest | None:
        """Copies the database; returns the full backup that the copy builds on, or None if the copy is full itself."""
        arguments = [*connection(self._engines.ports.postgres), "--checkpoint=fast", "--manifest-checksums=SHA256"]
        env = environment(self._password)
        if full and self._began - full.database_at < FULL_EVERY:
            before = self._shelf.folder(full.name) / "database/backup_manifest"
            try:
                run_tool("pg_basebackup", *arguments, "--pgdata", place, f"--incremental={before}", env=env)
            except ToolFailed as error:
                self._progress.warn(f"{error}; taking a full backup instead")
                shutil.rmtree(place, ignore_errors=True)
            else:
                return full
        run_tool("pg_basebackup", *arguments, "--pgdata", place, env=env)
        return None

    def _manifest(
        self,
        admin: psycopg.Connection,
        place: Path,
        base: BackupManifest | None,
        database_at: datetime,
        objects: dict[str, CopiedObject],
    ) -> BackupManifest:
        log = log_folder(self._folder.path)
        assert log is not None
        for name in KEPT_FILES:
            if (self._folder.path / name).exists():
                shutil.copyfile(self._folder.path / name, place / name)
                (place / name).chmod(0o600)
        described = [OBJECTS, "database/backup_manifest", *(name for name in KEPT_FILES if (place / name).exists())]
        return BackupManifest(
            name=self._name,
            kind="incremental" if base else "full",
            base=base.name if base else None,
            log=log.name,
            version=VERSION,
            postgres=major_version(),
            migrations=_migrations(admin),
            began_at=self._began,
            database_at=database_at,
            finished_at=datetime.now(UTC),
            rows=_rows(admin),
            objects=len(objects),
            object_bytes=sum(one.size for one in objects.values()),
            database_bytes=sum(file.stat().st_size for file in (place / "database").rglob("*") if file.is_file()),
            files={name: sha256_of(place / name) for name in described},
        )


def _migrations(admin: psycopg.Connection) -> dict[str, list[str]]:
    statement = "SELECT name FROM {}.migration ORDER BY name"
    return {
        schema: [name for (name,) in admin.execute(sql.SQL(statement).format(sql.Identifier(schema)))]
        for schema in _SCHEMAS
    }


def _tell(admin: psycopg.Connection, manifest: BackupManifest) -> None:
    """Records the age of the last backup for the gateway; an older version's data has no table for it yet."""
    if (admin.execute("SELECT to_regclass('gateway.backup')").fetchone() or [None])[0]:
        admin.execute("INSERT INTO gateway.backup VALUES (%s, %s)", (manifest.name, manifest.finished_at))


def _rows(admin: psycopg.Connection) -> dict[str, int]:
    """Returns the number of rows of each table, in one snapshot."""
    counted = {}
    with admin.transaction():
        admin.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tables = admin.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s) ORDER BY 1, 2", (_SCHEMAS,)
        ).fetchall()
        for schema, table in tables:
            found = admin.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))).fetchone()
            counted[f"{schema}.{table}"] = int(found[0]) if found else 0
    return counted
