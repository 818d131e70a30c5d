"""A conversion process seen from the worker, which sends it files, watches it and kills it at a limit."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ingestion.conversion.errors import (
    ConversionError,
    MemoryLimitExceeded,
    OutputTooLarge,
    TimeLimitExceeded,
    WorkerDied,
    conversion_error,
)
from ingestion.conversion.jobs import CONVERTED, LONGEST_MESSAGE, OUTPUTS, SETUP, Assignment, Job, Setup
from ingestion.conversion.values import ConversionProgress, Converted, Limits
from service_kit.sandbox import Sandbox, SandboxedProcess, SandboxUnavailable

CHECK_SECONDS = 0.2  # between checks of a conversion's time and memory
HEARTBEAT_SECONDS = 2.0
LONGEST_REASON, LONGEST_TRACE = 1000, 8000  # characters

OnProgress = Callable[[ConversionProgress], None]
log = logging.getLogger(__name__)


class NeverStarted(WorkerDied):
    """The process ended before it started on the file."""


class ConversionProcess:
    """A running conversion process. Not thread-safe."""

    def __init__(self, sandbox: Sandbox, setup: Setup) -> None:
        """Starts the process. Raises WorkerDied."""
        try:
            self._process = sandbox.start()
        except SandboxUnavailable as error:
            raise WorkerDied(f"No process could be started for the conversion: {error}.") from error
        self.pid = self._process.pid
        try:
            self._process.send(SETUP.dump_json(setup))
        except OSError:
            self._process.end()
            raise WorkerDied("The process of the conversion ended at its start; the worker's log says why.") from None

    @property
    def is_alive(self) -> bool:
        return self._process.is_idle

    def convert(self, job: Job, on_progress: OnProgress) -> Converted:
        """Converts one file. Raises ConversionError and any error of `on_progress`; call `end` after any error."""
        try:
            with job.source.open("rb") as source:
                self._process.send(Assignment.of(job).written())
                self._process.send_file(source.fileno())
        except OSError:
            raise NeverStarted("The process ended before it started on the file.") from None
        return _Watch(self._process, job, on_progress).result()

    def end(self) -> None:
        """Kills the process and its children, and waits until it has ended."""
        self._process.end()


class _Watch:
    """Follows one conversion to its end."""

    def __init__(self, process: SandboxedProcess, job: Job, on_progress: OnProgress) -> None:
        self._process = process
        self._limits = job.limits
        self._on_progress = on_progress
        self._outputs = _Outputs(job.output, job.limits)
        self._deadline = time.monotonic() + job.limits.seconds
        self._progress = ConversionProgress("convert")
        self._heartbeat_due = self._check_due = 0.0
        self._started = False

    def result(self) -> Converted:
        try:
            while True:
                try:
                    message = self._process.receive(CHECK_SECONDS, LONGEST_MESSAGE)
                except EOFError:
                    raise self._death() from None
                if message is not None and (found := self._handle(message)) is not None:
                    return found
                now = time.monotonic()
                if now >= self._check_due:
                    self._check(now)
                if now >= self._heartbeat_due:
                    self._heartbeat_due = now + HEARTBEAT_SECONDS
                    self._on_progress(self._progress)
        finally:
            self._outputs.close()

    def _handle(self, data: bytes) -> Converted | None:
        if self._outputs.is_open:
            self._outputs.add(data)
            return None
        try:
            message = json.loads(data)
            return self._handle_kind(message.pop("kind"), message)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ValidationError):
            raise ConversionError("The process that read the file sent an invalid answer and was stopped.") from None

    def _handle_kind(self, kind: str, message: dict[str, Any]) -> Converted | None:
        if kind == "converted":
            self._outputs.check()
            return CONVERTED.validate_python(message)
        if kind == "failed":
            if trace := message.get("trace"):
                log.warning("conversion failed", extra={"trace": str(trace)[:LONGEST_TRACE]})
            reason = str(message["message"]).replace("\x00", "")[:LONGEST_REASON]
            raise conversion_error(str(message["error_class"]), reason)
        if kind == "started":
            self._started = True
        elif kind == "output":
            self._outputs.begin(message["name"], message["bytes"])
        else:
            self._progress = ConversionProgress(message["stage"], message["page"], message["pages"])
            self._heartbeat_due = 0.0
        return None

    def _check(self, now: float) -> None:
        self._check_due = now + CHECK_SECONDS
        if now > self._deadline:
            raise TimeLimitExceeded(
                f"The conversion took longer than {self._limits.seconds:g} seconds and was stopped."
            )
        try:
            used = self._process.usage()
        except SandboxUnavailable:
            raise self._death() from None
        if used.resident_bytes > self._limits.memory_bytes:
            raise MemoryLimitExceeded(
                f"The conversion used more than {_megabytes(self._limits.memory_bytes)} MB of memory and was stopped."
            )
        if used.folder_bytes > self._limits.output_bytes:
            raise OutputTooLarge(
                f"The conversion wrote more than {_megabytes(self._limits.output_bytes)} MB and was stopped."
            )

    def _death(self) -> WorkerDied:
        kind = WorkerDied if self._started else NeverStarted
        return kind("The process that converted the file ended unexpectedly, perhaps for lack of memory.")


class _Outputs:
    """Writes the process's outputs to the worker's own files: a path from the process is never opened."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._most = folder, limits.output_bytes
        self._file: int | None = None
        self._left = self._total = 0
        self._complete: set[str] = set()

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def begin(self, name: str, size: int) -> None:
        """Opens the next output. Raises OutputTooLarge, and ValueError for an output that no conversion sends."""
        if name not in OUTPUTS or name in self._complete or not isinstance(size, int) or size < 0:
            raise ValueError(name)
        self._total += size
        if self._total > self._most:
            raise OutputTooLarge(f"The conversion's result has more than {_megabytes(self._most)} MB.")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file, self._left = os.open(self._folder / name, flags, 0o600), size
        self._complete.add(name)
        self.add(b"")

    def add(self, data: bytes) -> None:
        """Appends to the open output. Raises ConversionError, and OSError when the disk is full."""
        if self._file is None or len(data) > self._left:
            raise ConversionError("The process that read the file sent more than it had announced and was stopped.")
        while data:
            written = os.write(self._file, data)
            self._left -= written
            data = data[written:]
        if not self._left:
            self.close()

    def check(self) -> None:
        """Raises ValueError unless every output has been received."""
        if self._complete != set(OUTPUTS):
            raise ValueError("not all outputs have come")

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _megabytes(size: int) -> int:
    return size // (1 << 20)
