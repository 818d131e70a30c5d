"""One process of conversions, seen from the worker: it is given files, watched, and killed when it breaks a limit."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

import psutil

from ingestion.conversion.errors import MemoryLimitExceeded, TimeLimitExceeded, WorkerDied, conversion_error
from ingestion.conversion.jobs import CONVERTED, Job, Setup
from ingestion.conversion.values import ConversionProgress, Converted

CHECK_SECONDS = 0.2  # between looks at the clock and at the memory of a conversion
HEARTBEAT_SECONDS = 2.0

OnProgress = Callable[[ConversionProgress], None]


class NeverStarted(WorkerDied):
    """The process ended before it began with the file."""


class ConversionProcess:
    """Not to be used from several threads at once, but for `kill`."""

    def __init__(self, context: ForkServerContext, setup: Setup) -> None:
        """Starts the process."""
        self._messages, theirs = context.Pipe()
        with theirs:
            self._process: ForkServerProcess = context.Process(target=_serve, args=(theirs, setup), daemon=True)
            self._process.start()
        self.pid = _pid(self._process)

    @property
    def is_alive(self) -> bool:
        return not wait([self._process.sentinel], 0)

    def convert(self, job: Job, on_progress: OnProgress) -> Converted:
        """Raises ConversionError, and what `on_progress` raises; the process must be ended then."""
        try:
            self._messages.send_bytes(job.written())
        except OSError:
            raise NeverStarted("The process ended before it began with the file.") from None
        return _Watch(self.pid, self._messages, job, on_progress).result()

    def kill(self) -> None:
        """Kills the process and its children. It leads a process group once it runs our code; before, it is alone."""
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Returns when it has ended."""
        if self.is_alive:
            self.kill()
            wait([self._process.sentinel])
        self._messages.close()

    def reap(self) -> None:
        """Frees the process's resources. Call it after `end`, and not while another process is being started."""
        self._process.join()
        self._process.close()


class _Watch:
    """Follows one conversion to its end."""

    def __init__(self, pid: int, messages: Connection, job: Job, on_progress: OnProgress) -> None:
        self._pid = pid
        self._messages = messages
        self._limits = job.limits
        self._on_progress = on_progress
        self._deadline = time.monotonic() + job.limits.seconds
        self._progress = ConversionProgress("convert")
        self._heartbeat_due = 0.0
        self._started = False

    def result(self) -> Converted:
        while True:
            if wait([self._messages], CHECK_SECONDS):
                try:
                    message = json.loads(self._messages.recv_bytes())
                except (EOFError, OSError):
                    raise self._death() from None
                found = self._handle(message)
                if found is not None:
                    return found
            self._check()

    def _handle(self, message: dict[str, Any]) -> Converted | None:
        kind = message.pop("kind")
        if kind == "converted":
            return CONVERTED.validate_python(message)
        if kind == "failed":
            raise conversion_error(message["error_class"], message["message"])
        if kind == "started":
            self._started = True
        else:
            self._progress = ConversionProgress(**message)
            self._heartbeat_due = 0.0
        return None

    def _check(self) -> None:
        now = time.monotonic()
        if now > self._deadline:
            raise TimeLimitExceeded(
                f"The conversion took longer than {self._limits.seconds:g} seconds and was stopped."
            )
        if _resident_bytes(self._pid) > self._limits.memory_bytes:
            megabytes = self._limits.memory_bytes // (1 << 20)
            raise MemoryLimitExceeded(f"The conversion used more than {megabytes} MB of memory and was stopped.")
        if now >= self._heartbeat_due:
            self._heartbeat_due = now + HEARTBEAT_SECONDS
            self._on_progress(self._progress)

    def _death(self) -> WorkerDied:
        kind = WorkerDied if self._started else NeverStarted
        return kind("The process that converted the file ended unexpectedly, perhaps for lack of memory.")


def _serve(messages: Connection, setup: Setup) -> None:
    """Runs in the child. Imports there, so that the caller's process stays free of docling."""
    from ingestion.conversion.child import serve  # noqa: PLC0415

    serve(messages, setup)


def _pid(process: ForkServerProcess) -> int:
    if process.pid is None:
        raise RuntimeError("the process has not been started")
    return process.pid


def _resident_bytes(pid: int) -> int:
    """Returns the memory of the process and of its children."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += int(each.memory_info().rss)
    return total
