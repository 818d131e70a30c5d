"""The backup folder: which backups exist, which are kept, and what a restore to a moment needs.

NAME/manifest.json, objects.jsonl, database/, ...   a backup, named by its start time
log/NAME/                                           the log since that full backup
objects/ab/abcdef...                                copies of objects, by their SHA-256, for all backups together
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backup.errors import BackupUnderWay, NoBackup
from backup.shelf.manifest import FILE, BackupManifest, read_manifest, read_objects
from backup.shelf.wal_ranges import start_segment_name
from backup.tools import Tools

LOGS, OBJECTS = "log", "objects"
_NAME = re.compile(r"^\d{8}T\d{12}Z$", re.ASCII)


class BackupShelf:
    """The folder of backups of one installation."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.objects = self.path / OBJECTS

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Creates the folder, accessible only to its owner, and locks it. Raises BackupUnderWay."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BackupUnderWay(self.path) from None
            yield
        finally:
            os.close(descriptor)

    def folder(self, name: str) -> Path:
        return self.path / name

    def log(self, name: str) -> Path:
        """Returns the folder of the log that starts with this full backup."""
        return self.path / LOGS / name

    def copy_of(self, sha256: str) -> Path:
        """Returns the path of an object's copy."""
        return self.objects / sha256[:2] / sha256

    def backups(self) -> list[BackupManifest]:
        """Returns the completed backups, oldest first. Raises DamagedBackup."""
        found = [read_manifest(file.parent) for file in self.path.glob(f"*/{FILE}")]
        return sorted(found, key=lambda one: one.database_at)

    def before(self, moment: datetime | None) -> BackupManifest:
        """Returns the last backup from which the moment can be restored, or the latest backup without a moment.

        Raises NoBackup.
        """
        backups = self.backups()
        fit = [one for one in backups if moment is None or one.database_at <= moment]
        if not fit:
            raise NoBackup(self.path, backups[0].database_at if backups else None)
        return fit[-1]

    def after(self, moment: datetime | None) -> BackupManifest | None:
        """Returns the first backup that began no earlier than the moment."""
        return next((one for one in self.backups() if moment and one.database_at > moment), None)

    def clear(self) -> None:
        """Deletes the remains of an interrupted backup."""
        for folder in self.path.iterdir():
            if _NAME.match(folder.name) and not (folder / FILE).exists():
                shutil.rmtree(folder)
        for file in self.objects.glob("*.part"):
            file.unlink()

    def expire(self, days: float, tools: Tools) -> list[str]:
        """Deletes whatever no moment of the last `days` needs; returns the names of the deleted backups."""
        backups = self.backups()
        kept = needed(backups, datetime.now(UTC) - timedelta(days=days))
        gone = [one.name for one in backups if one not in kept]
        for name in gone:
            (self.folder(name) / FILE).unlink()
            shutil.rmtree(self.folder(name))
        self._expire_logs(kept, tools)
        self._expire_objects(kept)
        return gone

    def _expire_logs(self, kept: Iterable[BackupManifest], tools: Tools) -> None:
        oldest: dict[str, BackupManifest] = {}
        for one in kept:
            oldest.setdefault(one.log, one)
        for folder in (self.path / LOGS).iterdir():
            if folder.name not in oldest:
                shutil.rmtree(folder)
            else:
                first = self.folder(oldest[folder.name].name) / "database"
                tools.run("pg_archivecleanup", folder, start_segment_name(first))

    def _expire_objects(self, kept: Iterable[BackupManifest]) -> None:
        wanted = {one.sha256 for backup in kept for one in read_objects(self.folder(backup.name)).values()}
        for file in self.objects.glob("*/*"):
            if file.name not in wanted:
                file.unlink()


def needed(backups: list[BackupManifest], since: datetime) -> list[BackupManifest]:
    """Returns the backups needed for moments since then, in order: the last before it, all later, and their bases."""
    older = [one for one in backups if one.database_at <= since][-1:]
    kept = {one.name for one in [*older, *(one for one in backups if one.database_at > since)]}
    kept |= {one.base for one in backups if one.name in kept and one.base}
    return [one for one in backups if one.name in kept]
