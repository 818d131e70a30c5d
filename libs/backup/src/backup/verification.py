"""Verifies what is on the shelf."""

from __future__ import annotations

from collections.abc import Iterable

from backup import object_copies
from backup.errors import DamagedBackup, ToolFailed
from backup.log import segments
from backup.manifest import BackupManifest, CopiedObject, read_objects, sha256_of
from backup.progress import Progress
from backup.shelf import BackupShelf
from backup.tools import Tools
from backup.wal_ranges import timeline_and_end


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


def verify_all(shelf: BackupShelf, tools: Tools, progress: Progress) -> None:
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
