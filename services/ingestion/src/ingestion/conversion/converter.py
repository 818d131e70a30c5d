"""Runs each conversion in a process of its own, with limits from outside."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import psutil

from ingestion.conversion.errors import MemoryLimitExceeded, TimeLimitExceeded, WorkerDied, conversion_error
from ingestion.conversion.values import Converted, Limits, Progress

CHECK_SECONDS = 0.2  # between looks at the clock and at the memory of a conversion
HEARTBEAT_SECONDS = 2.0
PRELOAD = "ingestion.conversion.preload"

OnProgress = Callable[[Progress], None]


class Converter:
    """Converts files in processes that are forked from a warmed server, several at once if called from several threads.

    The fork server is Python's own, one in a process; it ends with this process. Each conversion is a fresh process, so
    memory cannot creep, and one that hangs or crashes takes nothing with it.

    Memory is watched as resident memory, because onnxruntime and the PDF parser map far more address space than they
    touch: RLIMIT_AS low enough to protect the machine would refuse ordinary files. What a burst takes between two looks
    is limited by RLIMIT_DATA.
    """

    def __init__(self, threads: int = 2) -> None:
        """`threads` is how many each conversion's models use."""
        self._threads = threads
        self._context = multiprocessing.get_context("forkserver")
        self._lock = threading.Lock()  # Process.start() also reaps the processes that other threads wait for
        self._running: set[int] = set()
        self._closed = False

    def __enter__(self) -> Self:
        self._context.set_forkserver_preload([PRELOAD])
        forkserver.ensure_running()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kills the conversions that still run; their callers get WorkerDied."""
        with self._lock:
            self._closed = True
            for pid in self._running:
                _kill(pid)

    def convert(
        self,
        source: Path,
        file_name: str,
        document_id: UUID,
        output: Path,
        limits: Limits,
        on_progress: OnProgress,
    ) -> Converted:
        """Writes `document.json`, `document.md` and `chunks.jsonl` into the folder `output`.

        `on_progress` is called from this thread at least every two seconds, also when nothing has changed; what it
        raises ends the conversion and is raised here. It must be quick: limits are not watched meanwhile. Raises
        ConversionError. After any error the files are not complete.
        """
        messages, theirs = self._context.Pipe(duplex=False)
        with messages:
            with theirs:
                process = self._start(theirs, (source, file_name, document_id, output, limits, self._threads))
            try:
                return _Watch(process, messages, limits, on_progress).result()
            finally:
                self._end(process)

    def _start(self, theirs: Connection, arguments: tuple[Any, ...]) -> ForkServerProcess:
        process = self._context.Process(target=_run, args=(theirs, *arguments), daemon=True)
        with self._lock:
            if self._closed:
                raise WorkerDied("The converter is shutting down.")
            process.start()
            self._running.add(_pid(process))
        return process

    def _end(self, process: ForkServerProcess) -> None:
        pid = _pid(process)
        if not wait([process.sentinel], 0):
            _kill(pid)
            wait([process.sentinel])
        with self._lock:
            self._running.discard(pid)
            process.join()
            process.close()


class _Watch:
    """Follows one conversion to its end."""

    def __init__(
        self, process: ForkServerProcess, messages: Connection, limits: Limits, on_progress: OnProgress
    ) -> None:
        self._messages = messages
        self._limits = limits
        self._on_progress = on_progress
        self._pid = _pid(process)
        self._deadline = time.monotonic() + limits.seconds
        self._progress = Progress("convert")
        self._heartbeat_due = 0.0

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
            return Converted(**message)
        if kind == "failed":
            raise conversion_error(message["error_class"], message["message"])
        self._progress = Progress(**message)
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
        return WorkerDied("The process that converted the file ended unexpectedly, perhaps for lack of memory.")


def _run(messages: Connection, *arguments: Any) -> None:
    """Runs in the child. Imports there, so that the caller's process stays free of docling."""
    from ingestion.conversion.child import run  # noqa: PLC0415

    run(messages, *arguments)


def _pid(process: ForkServerProcess) -> int:
    if process.pid is None:
        raise RuntimeError("the process has not been started")
    return process.pid


def _resident_bytes(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _kill(pid: int) -> None:
    """The process and what it started. It leads its own group once it runs our code; before, there is only itself."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
