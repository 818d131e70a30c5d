"""One child process with its log file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from embedded.engine_user import EngineUser
from embedded.errors import EmbeddedError
from embedded.processes.diagnosis import crash

LEASH = Path(__file__).with_name("leash.py")
KEEP_LOG_BYTES = 20 * 1024 * 1024
TAIL_BYTES = 8192


@dataclass(frozen=True)
class Command:
    """A command to run. `stop` lists the signals that stop it, each with the seconds to wait.

    The process inherits the open files in `descriptors`.
    """

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    user: EngineUser | None = None
    descriptors: Sequence[int] = ()
    stop: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 10.0),)
    on_parent_death: signal.Signals = signal.SIGTERM


class Child:
    """A running command. Start it from the main thread: the child is killed when the thread that started it ends.

    It leads its own session, so Ctrl-C in the terminal reaches only the launcher, which stops processes in order.
    """

    def __init__(self, command: Command) -> None:
        self.command = command
        _rotate(command.log)
        user = command.user
        leash = [sys.executable, "-I", "-S", str(LEASH), str(int(command.on_parent_death)), str(os.getpid())]
        leash += [str(user.uid), str(user.gid)] if user else ["-", "-"]
        with command.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*leash, *command.argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(command.env),
                cwd=command.cwd,
                start_new_session=True,
                pass_fds=command.descriptors,
            )
        self._stopped = False
        self.created = psutil.Process(self._process.pid).create_time()

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """Returns None while the process runs; a negative number for a signal."""
        return self._process.poll()

    def crash(self) -> EmbeddedError | None:
        """Returns why the process ended, or None while it runs."""
        code = self.exit_code()
        return None if code is None else crash(self.name, code, self.command.log, self.log_tail())

    def log_tail(self) -> str:
        """Returns the end of this process's log, without output of its predecessors."""
        try:
            with self.command.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - TAIL_BYTES))
                return log.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def wait(self, seconds: float) -> None:
        """Waits at most `seconds` until the process has ended; `exit_code` then says whether it has."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def ask_to_stop(self) -> None:
        """Sends the first stop signal without waiting, so that several can stop concurrently."""
        if self.exit_code() is None:
            self._process.send_signal(self.command.stop[0][0])

    def stop(self) -> None:
        """Stops the process and its session, and waits for them."""
        if self._stopped:
            return  # its pid may have been reused
        for number, (name, seconds) in enumerate(self.command.stop):
            if self.exit_code() is not None:
                break
            if number:
                self._process.send_signal(name)
            else:
                self.ask_to_stop()
            self.wait(seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS returns EPERM for a session of zombies
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._stopped = True


def _rotate(log: Path) -> None:
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > KEEP_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
