"""Forks a walled process."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from service_kit.sandbox.identity import leave_namespaces
from service_kit.sandbox.syscalls import PR_SET_PDEATHSIG, prctl
from service_kit.sandbox.usage import OwnMemory
from service_kit.sandbox.walls import Walls, close_the_last, go_behind

Run = Callable[[Connection, OwnMemory], None]
NOT_WALLED = 70  # exit code if the walls could not be set up


@dataclass(frozen=True)
class Task:
    """What walled processes run, and what they may read."""

    run: Run
    readable: Sequence[Path]
    programs: bool


def fork_walled(task: Task, walls: Walls, folder: Path, number: int, messages: int) -> int:
    """Returns the process's id once it is behind its walls. It leads a process group. Raises OSError."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            first = os.fork()
            if first == 0:
                ours.close()
                _begin(task, walls, folder, number, messages, theirs)
        pid = first
        if walls.own_processes:
            os.waitpid(first, 0)
            pid = int(ours.recv(32) or b"0")
        if pid:
            ours.sendall(b"+")  # its parent will not change any more
        if not pid or ours.recv(1) != b"+":
            if pid:
                os.waitpid(pid, 0)
            raise OSError("the process could not be put behind its walls; the log says why")
        return pid


def _begin(task: Task, walls: Walls, folder: Path, number: int, messages: int, parent: socket.socket) -> None:
    """Never returns."""
    code = NOT_WALLED
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()  # a group of its own, so that the whole group can be killed
        if walls.namespaces:
            leave_namespaces(walls.namespaces)
        if walls.own_processes and (second := os.fork()):
            parent.sendall(str(second).encode().ljust(32))
            os._exit(0)
        _run(task, walls, folder, number, messages, parent)
        code = 0
    except BaseException:  # noqa: BLE001  the end of the process, whatever it is
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)  # native thread pools can take seconds to end, and are no longer needed


def _run(task: Task, walls: Walls, folder: Path, number: int, messages: int, parent: socket.socket) -> None:
    connection = Connection(messages)
    _close_others({messages, parent.fileno()})
    memory = OwnMemory()
    go_behind(walls, task.readable, folder, number, task.programs)
    parent.recv(1)
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # only now, because a change of user resets it
    close_the_last(walls, task.programs)
    here = os.getcwd()
    os.environ |= {"HOME": here, "TMPDIR": here}
    tempfile.tempdir = here
    parent.sendall(b"+")  # fails if the fork server ended before its death would have killed this process
    parent.close()
    _silence()
    task.run(connection, memory)


def _close_others(keep: set[int]) -> None:
    """Closes inherited descriptors except standard input, output and error."""
    kept = sorted({0, 1, 2, *keep})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def _silence() -> None:
    """Keeps the output of a hostile process out of the log, unless its parent passes it on."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
