"""The manifest of a backup."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from backup.errors import DamagedBackup

FILE, OBJECTS = "manifest.json", "objects.jsonl"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CopiedObject(_Frozen):
    """An object of the object store; its copy is named by its SHA-256."""

    key: str
    sha256: str
    size: int
    etag: str
    modified: datetime


class BackupManifest(_Frozen):
    """Describes a backup, which can be restored to every moment from `database_at` on.

    `base` is the full backup that an incremental one builds on; `log` is the folder of the log that follows both.
    `files` maps the files beside the database, and PostgreSQL's own manifest, to their SHA-256.
    """

    name: str
    kind: Literal["full", "incremental"]
    base: str | None
    log: str
    version: str
    postgres: int
    migrations: dict[str, list[str]]
    began_at: datetime
    database_at: datetime
    finished_at: datetime
    rows: dict[str, int]
    objects: int
    object_bytes: int
    database_bytes: int
    files: dict[str, str]

    def size(self) -> str:
        """Returns what it holds, for people."""
        return (
            f"database {self.database_bytes / 1e6:.1f} MB, {self.objects} objects with {self.object_bytes / 1e6:.1f} MB"
        )


def write_manifest(folder: Path, manifest: BackupManifest) -> None:
    """Writes the manifest with its checksum, atomically: a folder without a manifest is not a backup."""
    values = manifest.model_dump(mode="json")
    part = folder / f"{FILE}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump({"sha256": _digest(values), "manifest": values}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / FILE)


def read_manifest(folder: Path) -> BackupManifest:
    """Returns the manifest of a backup. Raises DamagedBackup."""
    file = folder / FILE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        values = content["manifest"]
        if content["sha256"] != _digest(values):
            raise DamagedBackup(file, "its checksum differs")
        return BackupManifest.model_validate(values)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise DamagedBackup(file, "it cannot be read") from error


def write_objects(folder: Path, objects: Iterable[CopiedObject]) -> None:
    """Writes the list of objects, one per line."""
    with (folder / OBJECTS).open("w", encoding="utf-8") as file:
        file.writelines(one.model_dump_json() + "\n" for one in objects)


def read_objects(folder: Path) -> dict[str, CopiedObject]:
    """Returns the objects by key. Raises DamagedBackup."""
    try:
        lines = (folder / OBJECTS).read_text(encoding="utf-8").splitlines()
        found = (CopiedObject.model_validate_json(line) for line in lines)
        return {one.key: one for one in found}
    except (OSError, ValidationError) as error:
        raise DamagedBackup(folder / OBJECTS, "it cannot be read") from error


def sha256_of(file: Path) -> str:
    """Returns the SHA-256 of a file's content, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
