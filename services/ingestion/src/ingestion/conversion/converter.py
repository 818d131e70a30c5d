"""Runs conversions in processes of their own, with limits from outside."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing import forkserver
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from ingestion.conversion.conversion_process import ConversionProcess, NeverStarted, OnProgress
from ingestion.conversion.engines import pdf_engine
from ingestion.conversion.errors import MemoryLimitExceeded, WorkerDied
from ingestion.conversion.jobs import Job, Setup
from ingestion.conversion.values import Converted, Limits

PRELOAD = "ingestion.conversion.preload"


class Converter:
    """Converts files in processes that are forked from a warmed server, several at once if called from several threads.

    The fork server is Python's own, one in a process; it ends with this process. A conversion's process serves one file
    at a time, and several in a row, because loading models takes longer than reading most files. It is replaced when
    its file fails, is stopped or takes it down, and as `Recycling` says: what one file leaves behind cannot grow, and
    one that hangs or crashes takes nothing with it.

    Memory is watched as resident memory, because onnxruntime and the PDF parser map far more address space than they
    touch: RLIMIT_AS low enough to protect the machine would refuse ordinary files. What a burst takes between two looks
    is limited by RLIMIT_DATA.
    """

    def __init__(self, setup: Setup | None = None) -> None:
        """Raises EngineUnavailable."""
        self._setup = setup or Setup()
        pdf_engine(self._setup.pdf)
        self._context = multiprocessing.get_context("forkserver")
        self._lock = threading.Lock()  # Process.start() also reaps the processes that other threads wait for
        self._running: set[ConversionProcess] = set()
        self._idle: list[ConversionProcess] = []
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
            idle, self._idle = self._idle, []
            for process in self._running:
                process.kill()
        for process in idle:
            self._end(process)

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
        job = Job(str(source), file_name, str(document_id), str(output), limits)
        used = self._idle_process()
        if used is not None:
            try:
                return self._run(used, job, on_progress)
            except (NeverStarted, MemoryLimitExceeded):
                pass  # it was about to be recycled, or what earlier files left was part of it: once more, afresh
        return self._run(self._new_process(), job, on_progress)

    def _run(self, process: ConversionProcess, job: Job, on_progress: OnProgress) -> Converted:
        try:
            converted = process.convert(job, on_progress)
        except BaseException:
            self._end(process)
            raise
        with self._lock:
            if not self._closed:
                self._running.discard(process)
                self._idle.append(process)
                return converted
        self._end(process)
        return converted

    def _idle_process(self) -> ConversionProcess | None:
        while True:
            with self._lock:
                if not self._idle or self._closed:
                    return None
                process = self._idle.pop()
                self._running.add(process)
            if process.is_alive:
                return process
            self._end(process)

    def _new_process(self) -> ConversionProcess:
        with self._lock:
            if self._closed:
                raise WorkerDied("The converter is shutting down.")
            process = ConversionProcess(self._context, self._setup)
            self._running.add(process)
        return process

    def _end(self, process: ConversionProcess) -> None:
        process.end()
        with self._lock:
            self._running.discard(process)
            process.reap()
