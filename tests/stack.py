"""A whole embedded stack for tests: the processes of `make run`, with their own data folder and ports."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import psutil

from embedded.data_folder import DataFolder
from embedded.engines.postgres_home import PostgresHome
from embedded.ports import GRPC_OFFSET, LOOPBACK, is_free

START_SECONDS = 280.0
PATIENT = {
    f"{name}_SECONDS": "60"
    for name in (
        *(f"{leg}_DEADLINE" for leg in ("LEXICAL", "DENSE", "GRAPH", "SESSIONS", "RERANK", "RETRIEVAL")),
        *(f"{service}_TIMEOUT" for service in ("SEARCH", "GRAPH", "RECALL", "DOCUMENT")),
    )
}
"""Settings for tests of what is found: on a busy machine part of a search or an answer may miss its deadline."""
EMBEDDED = ("-m", "embedded")
READY = "Attractor is ready"
STOP_SECONDS = 120.0
INTERNAL_PORTS = 20
ROW = INTERNAL_PORTS + 2  # the port that reserves the row, the gateway's, the internal ones
ROWS_FROM, ROWS = 18_500, 110  # none of them is a default, nor one that `free_port` returns, nor a gRPC port


class EmbeddedStack:
    """A running stack: `url`, `api_key` (the administrator's), and `kill` (-9; the launcher restarts the process)."""

    databases: ClassVar[set[Path]] = set()
    """The folders with the databases of the stacks that this process has run; a temporary folder may not hold them."""

    def __init__(self, folder: Path, port: int, launcher: subprocess.Popen[bytes]) -> None:
        self.folder, self.launcher = DataFolder(folder), launcher
        self.url = f"http://127.0.0.1:{port}"
        self.seconds_to_ready = 0.0

    @property
    def api_key(self) -> str:
        return (self.folder.path / "admin.key").read_text(encoding="utf-8").strip()

    @classmethod
    @contextmanager
    def started(cls, folder: Path, program: Sequence[str] = EMBEDDED, **environment: str) -> Iterator[EmbeddedStack]:
        """Runs the stack on the folder, keeping its data, until the block ends. `program` are Python's arguments."""
        with _reserved_row() as port:
            yield from cls._started_on(folder, port, [*program, "run", "--no-demo"], environment)

    @classmethod
    @contextmanager
    def restored(cls, folder: Path, moment: str, **environment: str) -> Iterator[EmbeddedStack]:
        """Restores the state of the moment into the folder, and runs it until the block ends."""
        with _reserved_row() as port:
            yield from cls._started_on(folder, port, [*EMBEDDED, "restore", "--to", moment], environment)

    @classmethod
    def _started_on(
        cls, folder: Path, port: int, command: Sequence[str], environment: Mapping[str, str]
    ) -> Iterator[EmbeddedStack]:
        began = time.monotonic()
        settings = {"ATTRACTOR_DATA": str(folder), "GATEWAY_PORT": str(port)}
        settings |= {"INTERNAL_PORTS_FROM": str(port + 1), **environment}
        with open(folder / "launcher.log", "wb") as log:
            launcher = subprocess.Popen(
                [sys.executable, *command],
                env={**os.environ, **settings},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        stack = cls(folder, port, launcher)
        try:
            stack._wait_until_ready()
            cls.databases.add(PostgresHome.folder_of(stack.folder.path))
            stack.seconds_to_ready = time.monotonic() - began
            yield stack
        finally:
            launcher.send_signal(signal.SIGTERM)
            try:
                launcher.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                launcher.kill()
                launcher.wait()

    def _wait_until_ready(self) -> None:
        """Waits for the launcher to report that every service is ready; the gateway alone is ready earlier."""
        deadline, log = time.monotonic() + START_SECONDS, self.folder.path / "launcher.log"
        while READY not in log.read_text(encoding="utf-8"):
            if self.launcher.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the stack did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")
            time.sleep(0.05)  # only the launcher's output can be waited for

    def processes(self) -> dict[str, psutil.Process]:
        """Returns the processes of engines and services by name, without their children."""
        return self.folder.living()

    def connections(self, kind: str) -> Iterator[tuple[str, psutil.Process, Any]]:
        """Yields a part's name, a process of it and each of its connections; processes that end meanwhile have none."""
        for name, parent in self.processes().items():
            with suppress(psutil.NoSuchProcess):
                for process in [parent, *parent.children(recursive=True)]:
                    with suppress(psutil.NoSuchProcess):
                        for connection in process.net_connections(kind):
                            yield name, process, connection

    def kill(self, name: str) -> int:
        """Sends kill -9; returns the pid of the killed process."""
        process = self.processes()[name]
        process.kill()
        process.wait(60)
        return process.pid


@contextmanager
def _reserved_row() -> Iterator[int]:
    """Yields the first of a row of free ports that no other test process gets before the block ends."""
    while True:
        first = ROWS_FROM + secrets.randbelow(ROWS) * ROW  # not `random`: a test run seeds it alike in each process
        try:
            reservation = socket.create_server((LOOPBACK, first))
        except OSError:
            continue  # another test's row
        with reservation:
            row = range(first + 1, first + ROW)
            if all(is_free(port) and is_free(port + GRPC_OFFSET) for port in row):
                yield row[0]
                return
