"""Point-in-time restore of an installation into an empty data folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from backup.errors import (
    BackupIsNewer,
    DamagedBackup,
    LogBreaksOff,
    MomentToCome,
    NoBackup,
    TargetHasData,
    ToolFailed,
)
from backup.log import Segment, last_written, lay_down, segment_number, segments
from backup.manifest import BackupManifest, CopiedObject, read_objects, sha256_of
from backup.object_copies import ObjectCopies, as_of_moment, verify
from backup.shelf import BackupShelf
from backup.take import KEPT_FILES
from backup.tools import major_version, run_tool
from backup.wal_ranges import timeline_and_end
from embedded.data_folder import DataFolder
from embedded.engines import EnginePorts, Engines
from embedded.engines.postgres_home import PostgresHome
from embedded.errors import ChildCrashed
from embedded.progress import StartProgress
from embedded.restored.state import begin_restore, end_copying
from service_kit.health import VERSION
from service_kit.migrate import migrations

RECOVERY_SECONDS = 24 * 3600.0
_ENDED_EARLY = "recovery ended before configured recovery target was reached"
# The log is already in the cluster; no client connects before all of it is replayed.
_TO_THE_END = {"restore_command": "false", "recovery_target_timeline": "current", "hot_standby": "off"}
_SETTINGS = (*_TO_THE_END, "recovery_target_time", "recovery_target_action")


@dataclass(frozen=True)
class RestorePlan:
    """What to restore: `database` are the base backups in order, `log` is the log that follows them."""

    backup: BackupManifest
    database: list[Path]
    log: list[Segment]
    objects: Mapping[str, CopiedObject]


def restore(folder: DataFolder, shelf: BackupShelf, moment: datetime | None, progress: StartProgress) -> None:
    """Restores the data as of the moment, or the latest state if there is none.

    All checks happen before anything is written. Raises EmbeddedError, whose text is one line for the user.
    """
    if moment and moment > datetime.now(UTC):
        raise MomentToCome(moment)
    _refuse_data(folder)
    if not shelf.path.exists():
        raise NoBackup(shelf.path, None)
    with shelf.locked():
        with progress.step("verifying the backup"):
            plan = _plan(shelf, moment)
            _verify(shelf, plan)
        folder.create()
        with folder.lock():
            begin_restore(folder.path)
            for name in KEPT_FILES:
                if name in plan.backup.files:
                    shutil.copyfile(shelf.folder(plan.backup.name) / name, folder.path / name)
                    (folder.path / name).chmod(0o600)
            engines = Engines(folder, EnginePorts.free())
            try:
                with progress.step("restoring the database"):
                    _make_cluster(engines.postgres.home, plan, moment)
                    until = _recover(engines, plan, moment)
                if until:
                    progress.line(f"the last change restored is from {until.astimezone():%Y-%m-%d %H:%M:%S %Z}")
                with progress.step(f"restoring {len(plan.objects)} objects"):
                    _put_objects(engines, shelf, plan)
            finally:
                engines.stop()
            end_copying(folder.path)


def _refuse_data(folder: DataFolder) -> None:
    outside = PostgresHome.folder_of(folder.path)
    places = [outside / "cluster", *(folder.path / name for name in ("valkey", "object-store", *KEPT_FILES))]
    if found := next((place for place in places if place.exists()), None):
        raise TargetHasData(folder.path, found.name)


def _plan(shelf: BackupShelf, moment: datetime | None) -> RestorePlan:
    backup = shelf.before(moment)
    _refuse_newer(backup)
    parts = [one for one in (backup.base, backup.name) if one]
    timeline, end = timeline_and_end(shelf.folder(backup.name) / "database")
    objects = read_objects(shelf.folder(backup.name))
    if moment and (later := shelf.after(moment)):
        objects = as_of_moment(objects, read_objects(shelf.folder(later.name)), moment)
    return RestorePlan(
        backup,
        [shelf.folder(name) / "database" for name in parts],
        segments(shelf.log(backup.log), timeline, end),
        objects,
    )


def _refuse_newer(backup: BackupManifest) -> None:
    if _numbers(backup.version) > _numbers(VERSION):
        raise BackupIsNewer(backup.name, f"version {backup.version}, here {VERSION}")
    if backup.postgres != (here := major_version()):
        raise BackupIsNewer(backup.name, f"PostgreSQL {backup.postgres}, here {here}")
    for schema, names in backup.migrations.items():
        known = {name for package in ("service_kit", schema) for name, _ in migrations(package)}
        if unknown := [name for name in names if name not in known]:
            raise BackupIsNewer(backup.name, f"migration {unknown[-1]} is not known here")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _verify(shelf: BackupShelf, plan: RestorePlan) -> None:
    for part in plan.database:
        manifest = next(one for one in shelf.backups() if one.name == part.parent.name)
        for name, digest in manifest.files.items():
            file = part.parent / name
            if not file.exists() or sha256_of(file) != digest:
                raise DamagedBackup(file, "its checksum differs" if file.exists() else "it is missing")
        try:
            run_tool("pg_verifybackup", "--quiet", part)
        except ToolFailed as error:
            raise DamagedBackup(part, str(error)) from error
    verify(shelf, plan.objects.values())


def _make_cluster(home: PostgresHome, plan: RestorePlan, moment: datetime | None) -> None:
    """Builds the cluster with all of the log to replay in a temporary folder, and moves it into place."""
    home.prepare()
    part = home.folder / "cluster.part"
    shutil.rmtree(part, ignore_errors=True)
    run_tool("pg_combinebackup", *plan.database, "--output", part)
    lay_down(plan.log, part)
    settings = dict(_TO_THE_END)
    if moment:
        settings |= {"recovery_target_time": moment.isoformat(), "recovery_target_action": "promote"}
    _write_settings(part, settings)
    (part / "recovery.signal").touch(mode=0o600)
    home.end_making(part)


def _write_settings(cluster: Path, settings: Mapping[str, str]) -> None:
    """Replaces the recovery settings."""
    file = cluster / "postgresql.auto.conf"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith(_SETTINGS)]
    lines = [*kept, *(f"{name} = '{value}'" for name, value in settings.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _recover(engines: Engines, plan: RestorePlan, moment: datetime | None) -> datetime | None:
    """Replays the log up to the moment or its end, whichever is earlier; returns the time of the last change.

    Raises LogBreaksOff.
    """
    server = engines.postgres
    server.launch()
    try:
        server.wait_ready(RECOVERY_SECONDS)
    except ChildCrashed:
        child = server.child
        if child is None or _ENDED_EARLY not in child.log_tail():
            raise
        # The log ends before the moment: nothing changed in between.
        server.stop()
        _write_settings(server.home.cluster, _TO_THE_END)
        server.launch()
        server.wait_ready(RECOVERY_SECONDS)
        moment = None
    with psycopg.connect(engines.admin_database_url, autocommit=True) as admin:
        [until] = admin.execute("SELECT pg_last_xact_replay_timestamp()").fetchone() or [None]
        if moment is None:
            _refuse_gap(plan, server.home.cluster, until)
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


def _put_objects(engines: Engines, shelf: BackupShelf, plan: RestorePlan) -> None:
    engines.store.launch()
    engines.store.wait_ready()
    copies = ObjectCopies(engines.object_store, shelf)
    try:
        copies.put_back(plan.objects.values())
    finally:
        copies.close()
