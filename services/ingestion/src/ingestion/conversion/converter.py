"""Runs conversions in separate walled processes, whose limits are enforced from outside."""

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

    A conversion process runs behind the walls of `service_kit.sandbox`: it gets an open file and sends back its
    outputs. It converts one file at a time, and several of one workspace in a row, because loading models takes longer
    than reading most files. It is replaced when a file fails, is stopped or crashes it, when another workspace needs
    its place, and as `Recycling` says. So leftovers of a file cannot pile up or reach another workspace, and a file
    that hangs or crashes affects no other.

    The memory limit is on resident memory, because onnxruntime and the PDF parser map far more address space than they
    touch: an RLIMIT_AS low enough to protect the machine would refuse ordinary files. RLIMIT_DATA bounds bursts between
    two checks.
    """

    def __init__(self, setup: Setup | None = None, folder: Path | None = None, listener: Path | None = None) -> None:
        """Prepares the sandbox. Raises EngineUnavailable.

        `folder` is where conversions write, by default the system's temporary folder. `listener` is the socket of a
        converter in another container, which has its own folder.
        """
        self._setup = setup or Setup()
        pdf_engine(self._setup.pdf)
        readable = tuple(str(path.resolve()) for path in self._setup.files)
        # LibreOffice is the only program that a conversion starts; without it, starting programs is forbidden.
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
        """Returns this machine's walls, once the fork server has determined them; raises SandboxUnavailable."""
        return self._sandbox.walls

    def close(self) -> None:
        """Kills running conversions; their callers get WorkerDied."""
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
        """Writes `document.md` and `chunks.jsonl` into the folder `output`.

        `on_progress` is called on this thread at least every two seconds, even without progress; an error it raises
        ends the conversion and propagates. It must be quick, because limits are not checked meanwhile. Raises
        ConversionError. After any error the files are incomplete.
        """
        job = Job(source, file_name, document_id, output, limits)
        used = self._idle_process(workspace_id)
        if used is not None:
            try:
                return self._run(used, workspace_id, job, on_progress)
            except (NeverStarted, MemoryLimitExceeded):
                pass  # it was being recycled, or earlier files had used up the memory: retry in a new process
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
        """Returns an idle process that read only this workspace's files, or None after making room for a new one."""
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
