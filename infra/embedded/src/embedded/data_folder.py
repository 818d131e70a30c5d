"""The folder of one installation: lock, secrets, logs, and the engines' data."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import secrets
import shutil
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil

from embedded.accounts import make_private
from embedded.credentials import Credentials
from embedded.errors import AlreadyRunning, DataFolderFull, EmbeddedError
from embedded.processes.child import Child

NEEDED_MB = 500
DEFAULT_NAME = ".data"
HOME_NAME = "postgres-home"
_SAME_START_SECONDS = 2.0  # the kernel counts in ticks since boot, and the clock may have been set since


class DataFolder:
    """A data folder. Whoever holds `lock()` may start processes on it."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.logs = self.path / "logs"
        self._lock = self.path / "running.json"
        self._processes = self.path / "processes.json"

    def create(self) -> None:
        """Creates the folder. A new one gets the name of its database's folder, should that have to be elsewhere.

        Raises DataFolderFull if too little disk space is left.
        """
        ours = not self.path.exists() or self.path.name == DEFAULT_NAME  # others may hold more than our data
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if ours:
            make_private(self.path)
        if not self.logs.exists():  # new: what a deleted folder of this path has left elsewhere is not ours
            (self.path / HOME_NAME).write_text(secrets.token_hex(8), encoding="utf-8")
        self.logs.mkdir(mode=0o700, exist_ok=True)
        free_mb = shutil.disk_usage(self.path).free // 2**20
        needed_mb = os.environ.get("ATTRACTOR_MIN_FREE_MB") or str(NEEDED_MB)
        if not needed_mb.isdecimal():
            raise EmbeddedError(f"ATTRACTOR_MIN_FREE_MB is {needed_mb!r}: set it to a number of megabytes")
        if free_mb < int(needed_mb):
            raise DataFolderFull(self.path, free_mb, int(needed_mb))

    @functools.cached_property
    def credentials(self) -> Credentials:
        """The secrets of this installation; a single object, because it rewrites the whole file."""
        file = self.path / "secrets.json"
        try:
            found = Credentials(file)
        except json.JSONDecodeError as error:
            raise EmbeddedError(f"{file} is not valid JSON ({error}): correct it by hand") from error
        found.forget("internal-token")  # from 0.1.0: API keys could be computed from it
        return found

    @contextlib.contextmanager
    def lock(self, url: str | None = None) -> Iterator[None]:
        """Locks the folder for this process. The kernel releases the lock when the process ends, so it is never stale.

        Raises AlreadyRunning, with what the holder has recorded about itself.
        """
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = self.holder()
                raise AlreadyRunning(self.path, holder.get("pid"), holder.get("url")) from None
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps({"pid": os.getpid(), "url": url}).encode())
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def holder(self) -> dict[str, Any]:
        """Returns `pid` and `url` of the process that holds the lock; empty if there is none."""
        try:
            descriptor = os.open(self._lock, os.O_RDONLY)
        except FileNotFoundError:
            return {}
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _json(self._lock)
        else:
            return {}
        finally:
            os.close(descriptor)

    def record(self, children: Iterable[Child]) -> None:
        """Records the running children, so the next start can stop those that outlive a killed launcher."""
        noted = {child.name: {"pid": child.pid, "created": child.created} for child in children}
        part = self._processes.with_suffix(".part")
        part.write_text(json.dumps(noted), encoding="utf-8")
        part.replace(self._processes)

    def living(self) -> dict[str, psutil.Process]:
        """Returns the recorded processes that are alive, by name."""
        noted = _json(self._processes)
        return {name: process for name, entry in noted.items() if (process := _same_process(entry))}

    def end_holder(self, pid: int, seconds: float) -> None:
        """Asks the process that holds the lock to stop, and waits for it."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            _send(process, signal.SIGTERM)
            psutil.wait_procs([process], timeout=seconds)

    def end_leftovers(self) -> list[str]:
        """Stops the recorded processes that are still alive; returns their names. Call it with the lock held."""
        left = self.living()
        for name, process in left.items():
            _send(process, signal.SIGINT if name == "postgres" else signal.SIGTERM)
        _, stubborn = psutil.wait_procs(left.values(), timeout=10)
        for process in stubborn:
            _send(process, signal.SIGKILL)
        psutil.wait_procs(stubborn, timeout=5)
        self._processes.unlink(missing_ok=True)
        return list(left)


def _same_process(entry: dict[str, Any]) -> psutil.Process | None:
    """Returns the recorded process if it is alive and its pid has not been reused."""
    try:
        process = psutil.Process(entry["pid"])
        same = abs(process.create_time() - entry["created"]) < _SAME_START_SECONDS
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _send(process: psutil.Process, name: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(name)


def _json(path: Path) -> dict[str, Any]:
    """Returns the JSON object in a file; empty if the file is missing or truncated."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return content if isinstance(content, dict) else {}
