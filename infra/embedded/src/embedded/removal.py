"""Deletes an installation's data, and nothing else."""

from __future__ import annotations

import contextlib
import shutil

from embedded.data_folder import DataFolder
from embedded.engines.postgres_home import PostgresHome
from embedded.errors import EmbeddedError

OWN_FOLDERS = ("postgres", "valkey", "object-store", "logs", "uploads")
OWN_FILES = (
    "admin.key",
    "backup-log.json",
    "engine-ports.json",
    "ingestion-worker.alive",
    "examples-ingested",
    "metrics.json",
    "postgres-home",
    "processes.json",
    "restore.json",
    "to-upload-again.txt",
    "secrets.json",
    "running.json",
)


def remove(folder: DataFolder) -> None:
    """Removes Attractor's own files by name: ATTRACTOR_DATA may point to a folder that also holds other things.

    Raises EmbeddedError if the folder holds no installation, AlreadyRunning if one is running on it.
    """
    if not (folder.path / "secrets.json").exists():
        raise EmbeddedError(f"{folder.path} contains no Attractor data: nothing was deleted")
    with folder.lock():
        folder.end_leftovers()
        outside = PostgresHome.folder_of(folder.path)
        for place in [outside, *(folder.path / name for name in OWN_FOLDERS)]:
            if place.exists():
                shutil.rmtree(place)
        for name in OWN_FILES:
            (folder.path / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # it still holds the user's documents or other files
        (folder.path / "documents").rmdir()
    with contextlib.suppress(OSError):
        folder.path.rmdir()
