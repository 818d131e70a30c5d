"""Backup of a running installation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from psycopg import sql

from backup.errors import BackupError, ToolFailed
from backup.progress import BackupProgress
from backup.server import has_table_of_backups
from backup.shelf.folder import BackupShelf
from backup.shelf.log import keep_log_in, kept_log
from backup.shelf.manifest import (
    OBJECTS,
    BackupManifest,
    CopiedObject,
    read_objects,
    sha256_of,
    write_manifest,
    write_objects,
)
from backup.shelf.object_copies import ObjectCopies
from backup.tools import SLOT, Tools
from contracts.registry import CONFIRM_WORKSPACE_DELETION, GATEWAY
from service_kit.settings import ObjectStoreSettings
from service_kit.version import VERSION

FULL_EVERY = timedelta(days=7)
_SCHEMAS = [service.replace("-", "_") for service in (GATEWAY, *CONFIRM_WORKSPACE_DELETION)]


@dataclass(frozen=True)
class Installation:
    """What is backed up. The role of `database_url` is that of backups; the server must summarize its log.

    `record` is the folder that says where the log is kept, `files` are copied beside the database if they exist, and
    `log_moved` is called when the log is to be received in another folder.
    """

    database_url: str
    objects: ObjectStoreSettings
    record: Path
    files: tuple[Path, ...] = ()
    log_moved: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class BackupTaken:
    """A completed backup; `expired` are the names of the deleted older backups."""

    manifest: BackupManifest
    expired: list[str]

    def summary(self) -> str:
        """Returns a line for people."""
        deleted = f"; {len(self.expired)} older ones deleted" if self.expired else ""
        return f"backup {self.manifest.name} ({self.manifest.kind}): {self.manifest.size()}{deleted}"


def take(
    installation: Installation, tools: Tools, shelf: BackupShelf, days: float, progress: BackupProgress
) -> BackupTaken:
    """Takes a backup and deletes those that no moment of the last `days` needs.

    The backup is full if the log starts with it or the last full one is a week old, and incremental otherwise. Objects
    are copied before and after the database, so the copies are a superset of what the database names, and nothing has
    to stop.

    Raises BackupError, whose text is one line for the user, and Unavailable if the object store does not respond.
    """
    with shelf.locked():
        shelf.clear()
        try:
            manifest = _Taking(installation, tools, shelf, progress).take()
        except psycopg.Error as error:
            raise BackupError(f"unexpected response from PostgreSQL: {str(error).partition(chr(10))[0]}") from error
        return BackupTaken(manifest, shelf.expire(days, tools))


class _Taking:
    def __init__(self, installation: Installation, tools: Tools, shelf: BackupShelf, progress: BackupProgress) -> None:
        self._installation, self._tools, self._shelf, self._progress = installation, tools, shelf, progress
        self._began = datetime.now(UTC)
        self._name = f"{self._began:%Y%m%dT%H%M%S%fZ}"

    def take(self) -> BackupManifest:
        place = self._shelf.folder(self._name)
        with psycopg.connect(self._installation.database_url, autocommit=True) as connection:
            log, full = self._log_and_full_one(connection)
            place.mkdir(mode=0o700)
            copies = ObjectCopies(self._installation.objects, self._shelf)
            try:
                copies.store.ensure_bucket()  # in a new installation no service may have needed it yet
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
                self._tools.run("pg_verifybackup", "--quiet", place / "database")
            manifest = self._manifest(connection, place, log, base, database_at, objects)
            os.sync()
            write_manifest(place, manifest)
            _tell(connection, manifest)
        return manifest

    def _log_and_full_one(self, connection: psycopg.Connection) -> tuple[Path, BackupManifest | None]:
        """Returns the log's folder, and the full backup to build on; None if a new one, with a new log, starts."""
        log = kept_log(connection, self._installation.record, self._shelf.path)
        if log is None:
            return self._begin_log(connection), None
        fulls = [one for one in self._shelf.backups() if one.kind == "full" and one.log == log.name]
        return log, fulls[-1] if fulls else None

    def _begin_log(self, connection: psycopg.Connection) -> Path:
        """Makes the server keep its log from now on, and the receiver write it to a new folder."""
        connection.execute(
            "SELECT pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots"
            " WHERE slot_name = %s AND active_pid IS NOT NULL",
            (SLOT,),
        )
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", (SLOT,)
        )
        log = self._shelf.log(self._name)
        log.mkdir(mode=0o700, parents=True)
        # Before there is a slot again, so that a receiver which comes back cannot continue in the old folder.
        keep_log_in(self._installation.record, log)
        connection.execute("SELECT pg_create_physical_replication_slot(%s, true)", (SLOT,))
        self._installation.log_moved()
        return log

    def _known(self) -> dict[str, CopiedObject]:
        last = self._shelf.backups()[-1:]
        return read_objects(self._shelf.folder(last[0].name)) if last else {}

    def _copy_database(self, place: Path, full: BackupManifest | None) -> BackupManifest | None:
        """Copies the database; returns the full backup that the copy builds on, or None if the copy is full itself."""
        arguments = ["--checkpoint=fast", "--manifest-checksums=SHA256"]
        url = self._installation.database_url
        if full and self._began - full.database_at < FULL_EVERY:
            before = self._shelf.folder(full.name) / "database/backup_manifest"
            try:
                self._tools.run(
                    "pg_basebackup", *arguments, "--pgdata", place, f"--incremental={before}", database_url=url
                )
            except ToolFailed as error:
                self._progress.warn(f"{error}; taking a full backup instead")
                shutil.rmtree(place, ignore_errors=True)
            else:
                return full
        self._tools.run("pg_basebackup", *arguments, "--pgdata", place, database_url=url)
        return None

    def _manifest(
        self,
        connection: psycopg.Connection,
        place: Path,
        log: Path,
        base: BackupManifest | None,
        database_at: datetime,
        objects: dict[str, CopiedObject],
    ) -> BackupManifest:
        kept = [file for file in self._installation.files if file.exists()]
        for file in kept:
            shutil.copyfile(file, place / file.name)
            (place / file.name).chmod(0o600)
        described = [OBJECTS, "database/backup_manifest", *(file.name for file in kept)]
        return BackupManifest(
            name=self._name,
            kind="incremental" if base else "full",
            base=base.name if base else None,
            log=log.name,
            version=VERSION,
            postgres=self._tools.major_version(),
            migrations=_migrations(connection),
            began_at=self._began,
            database_at=database_at,
            finished_at=datetime.now(UTC),
            rows=_rows(connection),
            objects=len(objects),
            object_bytes=sum(one.size for one in objects.values()),
            database_bytes=sum(file.stat().st_size for file in (place / "database").rglob("*") if file.is_file()),
            files={name: sha256_of(place / name) for name in described},
        )


def _migrations(connection: psycopg.Connection) -> dict[str, list[str]]:
    """Returns the applied migrations by schema; a service that never started has none."""
    statement = "SELECT name FROM {}.migration ORDER BY name"
    found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname = ANY(%s)", (_SCHEMAS,)).fetchall()
    return {
        schema: [name for (name,) in connection.execute(sql.SQL(statement).format(sql.Identifier(schema)))]
        for (schema,) in found
    }


def _tell(connection: psycopg.Connection, manifest: BackupManifest) -> None:
    """Records the age of the last backup for the gateway; an older version's data has no table for it yet."""
    if has_table_of_backups(connection):
        connection.execute("INSERT INTO gateway.backup VALUES (%s, %s)", (manifest.name, manifest.finished_at))


def _rows(connection: psycopg.Connection) -> dict[str, int]:
    """Returns the number of rows of each table, in one snapshot."""
    counted = {}
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tables = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s) ORDER BY 1, 2", (_SCHEMAS,)
        ).fetchall()
        for schema, table in tables:
            found = connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
            ).fetchone()
            counted[f"{schema}.{table}"] = int(found[0]) if found else 0
    return counted
