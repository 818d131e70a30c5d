"""Serves by several processes: they are forked with a socket each, replaced when they end, and stopped together.

The supervisor opens the sockets and keeps them, so a connection that waits at a process's socket when that is killed is
served by its replacement.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType

from service_kit.command import STARTUP_FAILED
from service_kit.sandbox.syscalls import PR_SET_PDEATHSIG, prctl

log = logging.getLogger(__name__)
MOST_BY_CORES = 4
"""A process takes some 300 MB and up to 8 connections to PostgreSQL, so a large machine does not get one a core."""
LEAST_SECONDS = 1.0
"""Between two starts in the place of the same process, if it ends at once."""
STOPPING = (signal.SIGTERM, signal.SIGINT)
FORKING = multiprocessing.get_context("fork")


def count_processes(setting: int) -> int:
    """Returns how many processes serve; 0 stands for one a core, at most four."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return setting or min(MOST_BY_CORES, cores)


def listening_sockets(count: int, host: str, port: int, held: int | None = None) -> list[socket.socket]:
    """Returns a bound socket for each process, among which the kernel shares connections (SO_REUSEPORT).

    A `held` descriptor is one socket for all: connections go to whichever process takes them first. Raises OSError.
    """
    if held is not None:
        os.set_inheritable(held, False)
        return [socket.socket(fileno=held)] * count
    sockets = [socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) for _ in range(count)]
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        one.bind((host, port))
    return sockets


class ForkedServers:
    """Runs `run(number)` in `count` processes until SIGTERM or SIGINT, and replaces each one that ends before."""

    def __init__(self, count: int, run: Callable[[int], None], sockets: Sequence[socket.socket]) -> None:
        """`sockets` are closed when the processes are asked to stop, so that connections are refused."""
        self.count, self.run, self.sockets = count, run, sockets
        self.processes: dict[int, BaseProcess] = {}
        self.started: dict[int, float] = {}
        self.is_stopping = self.has_failed = self.has_replaced = False

    def serve(self) -> None:
        """Returns when all processes have stopped. Exits with STARTUP_FAILED if the first ones cannot start."""
        woken, waking = socket.socketpair()
        with woken, waking:
            waking.setblocking(False)
            signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
            for one in STOPPING:
                signal.signal(one, self._stop)
            try:
                for number in range(self.count):
                    self._start(number)
                while self.processes:
                    also = [] if self.is_stopping else [woken]
                    wait([*also, *(process.sentinel for process in self.processes.values())])
                    for number in [number for number, one in self.processes.items() if one.exitcode is not None]:
                        self._replace(number, woken)
            finally:
                signal.set_wakeup_fd(-1)
                self._stop()
        if self.has_failed:
            sys.exit(STARTUP_FAILED)

    def _replace(self, number: int, woken: socket.socket) -> None:
        code = self.processes.pop(number).exitcode
        if code == STARTUP_FAILED and not self.has_replaced:
            self.has_failed = True
            self._stop()
        if not self.is_stopping:
            log.error("a process ended and is replaced", extra={"number": number, "exit_code": code})
            self.has_replaced = True
            wait([woken], max(0.0, self.started[number] + LEAST_SECONDS - time.monotonic()))
            self._start(number)

    def _start(self, number: int) -> None:
        if not self.is_stopping:
            self.started[number] = time.monotonic()
            process = FORKING.Process(target=self._child, args=(number, os.getpid()))
            process.start()
            self.processes[number] = process
        if self.is_stopping and number in self.processes:  # meanwhile
            self.processes[number].terminate()

    def _child(self, number: int, supervisor: int) -> None:
        signal.set_wakeup_fd(-1)
        for one in STOPPING:
            signal.signal(one, signal.SIG_DFL)
        if sys.platform == "linux":
            prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() == supervisor and not self.is_stopping:
            self.run(number)

    def _stop(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        self.is_stopping = True
        for one in self.sockets:
            one.close()
        for process in self.processes.values():
            process.terminate()
