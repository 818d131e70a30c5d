"""Runs conversions in walled processes of their own, with limits from outside."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

from ingestion.conversion.conversion_process import ConversionProcess, NeverStarted, OnProgress
from ingestion.conversion.engines import pdf_engine
from ingestion.conversion.errors import MemoryLimitExceeded, WorkerDied
from ingestion.conversion.jobs import Job, Setup
from ingestion.conversion.values import Converted, Limits
from service_kit.sandbox import Sandbox, SandboxConfig, Wall

TASK, PRELOAD = "ingestion.conversion.child:serve", "ingestion.conversion.preload"
LIBREOFFICE = "soffice"


class Converter:
    """Converts files in processes that are forked from a warmed server, several at once if called from several threads.

    A conversion's process stands behind the walls of `service_kit.sandbox`: it gets the opened file and sends back its
    outputs. It serves one file at a time, and several of one workspace in a row, because loading models takes longer
    than reading most files. It is replaced when its file fails, is stopped or takes it down, when another workspace
    needs its place, and as `Recycling` says: what one file leaves behind cannot grow or reach another workspace's, and
    one that hangs or crashes takes nothing with it.

    Memory is watched as resident memory, because onnxruntime and the PDF parser map far more address space than they
    touch: RLIMIT_AS low enough to protect the machine would refuse ordinary files. What a burst takes between two looks
    is limited by RLIMIT_DATA.
    """

    def __init__(self, setup: Setup | None = None, folder: Path | None = None, listener: Path | None = None) -> None:
        """`folder` holds what conversions write, by default the system's; `listener` is the socket of a converter in
        another container, which has a folder of its own. Raises EngineUnavailable.
        """
        self._setup = setup or Setup()
        pdf_engine(self._setup.pdf)
        readable = tuple(str(path.resolve()) for path in self._setup.files)
        # Only LibreOffice is started as a program: without it, no process may start any.
        programs = shutil.which(LIBREOFFICE) is not None
        config = SandboxConfig(TASK, PRELOAD, readable, str(folder) if folder else None, programs)
        self._sandbox = Sandbox(config, listener)
        self._lock = threading.Lock()
        self._idle: list[tuple[UUID | None, ConversionProcess]] = []
        self._closed = False

    def __enter__(self) -> Self:
        """Starts the fork server. Raises SandboxUnavailable."""
        self._sandbox.prepare()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def walls(self) -> tuple[Wall, ...]:
        """Which walls this machine has. Waits until the fork server has found out; raises SandboxUnavailable."""
        return self._sandbox.walls

    def close(self) -> None:
        """Kills the conversions that still run; their callers get WorkerDied."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, process in idle:
            process.end()
        self._sandbox.close()

    def convert(
        self,
        source: Path,
        file_name: str,
        document_id: UUID,
        output: Path,
        limits: Limits,
        on_progress: OnProgress,
        *,
        workspace_id: UUID | None = None,
    ) -> Converted:
        """Writes `document.json`, `document.md` and `chunks.jsonl` into the folder `output`.

        `on_progress` is called from this thread at least every two seconds, also when nothing has changed; what it
        raises ends the conversion and is raised here. It must be quick: limits are not watched meanwhile. Raises
        ConversionError. After any error the files are not complete.
        """
        job = Job(source, file_name, document_id, output, limits)
        used = self._idle_process(workspace_id)
        if used is not None:
            try:
                return self._run(used, workspace_id, job, on_progress)
            except (NeverStarted, MemoryLimitExceeded):
                pass  # it was about to be recycled, or what earlier files left was part of it: once more, afresh
        return self._run(self._new_process(), workspace_id, job, on_progress)

    def _run(
        self, process: ConversionProcess, workspace_id: UUID | None, job: Job, on_progress: OnProgress
    ) -> Converted:
        try:
            converted = process.convert(job, on_progress)
        except BaseException:
            process.end()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append((workspace_id, process))
                return converted
        process.end()
        return converted

    def _idle_process(self, workspace_id: UUID | None) -> ConversionProcess | None:
        """Returns one that has read files of this workspace alone; else makes room for a new one."""
        while True:
            with self._lock:
                if not self._idle or self._closed:
                    return None
                owners = [owner for owner, _ in self._idle]
                owner, process = self._idle.pop(owners.index(workspace_id) if workspace_id in owners else 0)
            if owner == workspace_id and process.is_alive:
                return process
            process.end()
            if owner != workspace_id:
                return None

    def _new_process(self) -> ConversionProcess:
        if self._closed:
            raise WorkerDied("The converter is shutting down.")
        return ConversionProcess(self._sandbox, self._setup)
