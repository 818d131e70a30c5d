"""Verifies what is on the shelf."""

from __future__ import annotations

from collections.abc import Iterable

from backup.errors import DamagedBackup, ToolFailed
from backup.progress import BackupProgress
from backup.shelf import object_copies
from backup.shelf.folder import BackupShelf
from backup.shelf.log import segments
from backup.shelf.manifest import BackupManifest, CopiedObject, read_objects, sha256_of
from backup.shelf.wal_ranges import timeline_and_end
from backup.tools import Tools


def verify_database(shelf: BackupShelf, tools: Tools, parts: Iterable[BackupManifest]) -> None:
    """Verifies base backups and the files beside them. Raises DamagedBackup."""
    for part in parts:
        folder = shelf.folder(part.name)
        for name, digest in part.files.items():
            file = folder / name
            if not file.exists() or sha256_of(file) != digest:
                raise DamagedBackup(file, "its checksum differs" if file.exists() else "it is missing")
        try:
            tools.run("pg_verifybackup", "--quiet", folder / "database")
        except ToolFailed as error:
            raise DamagedBackup(folder / "database", str(error)) from error


def verify_all(shelf: BackupShelf, tools: Tools, progress: BackupProgress) -> None:
    """Verifies all backups, their logs and copies of objects. Raises DamagedBackup."""
    backups = shelf.backups()
    objects: dict[str, CopiedObject] = {}
    for one in backups:
        with progress.step(f"verifying {one.name} ({one.kind})"):
            verify_database(shelf, tools, [one])
            timeline, end = timeline_and_end(shelf.folder(one.name) / "database")
            segments(shelf.log(one.log), timeline, end)
            objects |= {copied.sha256: copied for copied in read_objects(shelf.folder(one.name)).values()}
    with progress.step(f"verifying {len(objects)} objects"):
        object_copies.verify(shelf, objects.values())
