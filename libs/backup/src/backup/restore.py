"""Point-in-time restore of an installation into an empty place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import psycopg

from backup.errors import BackupError, BackupIsNewer, LogBreaksOff, MomentToCome, NoBackup, NoMoment
from backup.progress import BackupProgress
from backup.shelf.folder import BackupShelf
from backup.shelf.log import Segment, last_written, lay_down, segment_number, segments
from backup.shelf.manifest import OBJECTS, BackupManifest, CopiedObject, read_objects
from backup.shelf.object_copies import ObjectCopies, as_of_moment, verify
from backup.shelf.verification import verify_database
from backup.shelf.wal_ranges import timeline_and_end
from backup.tools import Tools
from service_kit.migrate import migrations
from service_kit.settings import ObjectStoreSettings
from service_kit.version import VERSION

_ENDED_EARLY = "recovery ended before configured recovery target was reached"
# The log is already in the cluster; no client connects before all of it is replayed.
_TO_THE_END = {"restore_command": "false", "recovery_target_timeline": "current", "hot_standby": "off"}
_SETTINGS = (*_TO_THE_END, "recovery_target_time", "recovery_target_action")


class ServerEnded(BackupError):
    """The server ended while it replayed the log; `log` is the end of its own."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


class RestoreTarget(Protocol):
    """The place to restore to, with a server of its own."""

    def refuse_data(self) -> None:
        """Raises TargetHasData."""

    def opened(self) -> AbstractContextManager[None]:
        """Holds the place until everything is written, and stops the server at the end."""

    def keep(self, file: Path) -> None:
        """Copies a file that is kept beside the database."""

    @property
    def cluster(self) -> Path:
        """The folder of the database's cluster."""

    def place_cluster(self, make: Callable[[Path], None]) -> None:
        """Has the cluster made in a folder, and moves it into place."""

    def start_server(self) -> None:
        """Starts the server and waits until the log is replayed. Raises ServerEnded."""

    def stop_server(self) -> None: ...

    @property
    def admin_database_url(self) -> str:
        """The URL of the superuser, once the server is started."""

    def object_store(self) -> ObjectStoreSettings:
        """Returns the running object store's."""


def parse_moment(text: str | None) -> datetime | None:
    """Parses a moment, in this machine's time zone unless it names one; returns None if there is no text.

    Raises NoMoment.
    """
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise NoMoment(text) from None


@dataclass(frozen=True)
class RestorePlan:
    """What to restore: `database` are the base backups in order, `log` is the log that follows them."""

    backup: BackupManifest
    database: list[BackupManifest]
    log: list[Segment]
    objects: Mapping[str, CopiedObject]


def restore(
    target: RestoreTarget, tools: Tools, shelf: BackupShelf, moment: datetime | None, progress: BackupProgress
) -> None:
    """Restores the data as of the moment, or the latest state if there is none.

    All checks happen before anything is written. Raises BackupError, whose text is one line for the user.
    """
    if moment and moment > datetime.now(UTC):
        raise MomentToCome(moment)
    target.refuse_data()
    if not shelf.path.exists():
        raise NoBackup(shelf.path, None)
    with shelf.locked():
        with progress.step("verifying the backup"):
            plan = _plan(shelf, tools, moment)
            verify_database(shelf, tools, plan.database)
            verify(shelf, plan.objects.values())
        with target.opened():
            folder = shelf.folder(plan.backup.name)
            for name in plan.backup.files:
                if "/" not in name and name != OBJECTS:
                    target.keep(folder / name)
            with progress.step(f"restoring {len(plan.objects)} objects"):
                _put_objects(target.object_store(), shelf, plan)
            # Last, so that no database refers to objects which are still to be written.
            with progress.step("restoring the database"):
                target.place_cluster(lambda place: _make_cluster(place, tools, shelf, plan, moment))
                until = _recover(target, plan, moment)
            if until:
                progress.line(f"the last change restored is from {until.astimezone():%Y-%m-%d %H:%M:%S %Z}")


def _plan(shelf: BackupShelf, tools: Tools, moment: datetime | None) -> RestorePlan:
    backup = shelf.before(moment)
    _refuse_newer(backup, tools)
    timeline, end = timeline_and_end(shelf.folder(backup.name) / "database")
    objects = read_objects(shelf.folder(backup.name))
    if moment and (later := shelf.after(moment)):
        objects = as_of_moment(objects, read_objects(shelf.folder(later.name)), moment)
    return RestorePlan(
        backup,
        [one for one in shelf.backups() if one.name in {backup.base, backup.name}],
        segments(shelf.log(backup.log), timeline, end),
        objects,
    )


def _refuse_newer(backup: BackupManifest, tools: Tools) -> None:
    if _numbers(backup.version) > _numbers(VERSION):
        raise BackupIsNewer(backup.name, f"version {backup.version}, here {VERSION}")
    if backup.postgres != (here := tools.major_version()):
        raise BackupIsNewer(backup.name, f"PostgreSQL {backup.postgres}, here {here}")
    for schema, names in backup.migrations.items():
        known = {name for package in ("service_kit", schema) for name, _ in migrations(package)}
        if unknown := [name for name in names if name not in known]:
            raise BackupIsNewer(backup.name, f"migration {unknown[-1]} is not known here")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _make_cluster(place: Path, tools: Tools, shelf: BackupShelf, plan: RestorePlan, moment: datetime | None) -> None:
    """Builds the cluster with all of the log to replay."""
    tools.run("pg_combinebackup", *(shelf.folder(one.name) / "database" for one in plan.database), "--output", place)
    lay_down(plan.log, place)
    settings = dict(_TO_THE_END)
    if moment:
        settings |= {"recovery_target_time": moment.isoformat(), "recovery_target_action": "promote"}
    _write_settings(place, settings)
    (place / "recovery.signal").touch(mode=0o600)


def _write_settings(cluster: Path, settings: Mapping[str, str]) -> None:
    """Replaces the recovery settings."""
    file = cluster / "postgresql.auto.conf"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith(_SETTINGS)]
    lines = [*kept, *(f"{name} = '{value}'" for name, value in settings.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _recover(target: RestoreTarget, plan: RestorePlan, moment: datetime | None) -> datetime | None:
    """Replays the log up to the moment or its end, whichever is earlier; returns the time of the last change.

    Raises LogBreaksOff.
    """
    try:
        target.start_server()
    except ServerEnded as error:
        if _ENDED_EARLY not in error.log:
            raise
        # The log ends before the moment: nothing changed in between.
        target.stop_server()
        _write_settings(target.cluster, _TO_THE_END)
        target.start_server()
        moment = None
    with psycopg.connect(target.admin_database_url, autocommit=True) as admin:
        [until] = admin.execute("SELECT pg_last_xact_replay_timestamp()").fetchone() or [None]
        if moment is None:
            _refuse_gap(plan, target.cluster, until)
        for name in _SETTINGS:
            admin.execute(f"ALTER SYSTEM RESET {name}".encode())
    return until


def _refuse_gap(plan: RestorePlan, cluster: Path, until: datetime | None) -> None:
    """Raises LogBreaksOff if the replay ended before the last segment."""
    last = last_written(plan.log)
    ends = [line.split("\t")[1] for file in (cluster / "pg_wal").glob("*.history") for line in _branches(file)]
    if last and ends and (reached := segment_number(ends[-1])) < last.number - 1:
        broken = next(one for one in plan.log if one.number >= reached)
        raise LogBreaksOff(broken.file, until)


def _branches(history: Path) -> list[str]:
    return [line for line in history.read_text(encoding="utf-8").splitlines() if "\t" in line]


def _put_objects(settings: ObjectStoreSettings, shelf: BackupShelf, plan: RestorePlan) -> None:
    copies = ObjectCopies(settings, shelf)
    try:
        copies.put_back(plan.objects.values())
    finally:
        copies.close()
