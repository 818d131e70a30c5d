"""A folder for work files that does not outlive its process, even if that is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yields a new folder in `parent` and deletes it at the end.

    First deletes folders with the same prefix whose processes have ended: each process locks its own, and the kernel
    releases the lock with the process. Several processes, even of several containers, may share `parent`.
    """
    with _locked(parent):  # keeps other processes out until the new folder is locked
        for left in parent.glob(f"{prefix}*"):
            _remove_if_left(left)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_if_left(folder: Path) -> None:
    """Removes a folder of this user that nobody has locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return  # it belongs to another user, or is gone
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(descriptor)
