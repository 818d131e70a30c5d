"""Keeps processes running: restarts a crashed one with backoff, and stops everything if one keeps crashing."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from contracts.backoff import backoff
from embedded.errors import EmbeddedError
from embedded.processes.child import Child


@dataclass(frozen=True)
class Patience:
    """Restart limits (seconds): gives up after `crashes` in `window`; the pause doubles from `first` to `longest`."""

    crashes: int = 5
    window: float = 60.0
    first: float = 0.5
    longest: float = 8.0

    def pause(self, recent: int) -> float:
        """Returns the pause after this many crashes within the window."""
        return backoff(recent, self.first, self.longest)


class GaveUp(EmbeddedError):
    """A process crashed too often."""

    def __init__(self, why: EmbeddedError, crashes: int, window: float) -> None:
        super().__init__(f"gave up after {crashes} crashes within {window:.0f} s: {why}")


@dataclass
class _Kept:
    start: Callable[[], Child]
    child: Child
    needed: bool
    crashed: deque[float] = field(default_factory=deque)
    due: float | None = None


class Supervisor:
    """Supervises child processes. Use it in the main thread, inside `woken_by_children`."""

    def __init__(
        self, wakeup: socket.socket, say: Callable[[str], None], changed: Callable[[], None], patience: Patience
    ) -> None:
        self._wakeup, self._say, self._changed, self._patience = wakeup, say, changed, patience
        self._kept: dict[str, _Kept] = {}

    @property
    def children(self) -> list[Child]:
        """The current child of each process, in the order of their first start."""
        return [kept.child for kept in self._kept.values()]

    def start(self, start: Callable[[], Child], *, needed: bool = True) -> Child:
        """Starts a process and keeps it running; one that is not `needed` may crash any number of times."""
        child = start()
        self._kept[child.name] = _Kept(start, child, needed)
        self._changed()
        return child

    def check_alive(self) -> None:
        """Raises an error if a child has crashed; during start-up nothing is restarted."""
        for child in self.children:
            if (crash := child.crash()) is not None:
                raise crash

    def run(self, done: Callable[[], bool] = lambda: False) -> None:
        """Supervises until `done()`, which is checked whenever a child ends or is restarted.

        Raises GaveUp if a process crashes too often.
        """
        while True:
            self._tend(time.monotonic())
            if done():
                return
            dues = [kept.due for kept in self._kept.values() if kept.due is not None]
            timeout = max(0.0, min(dues) - time.monotonic()) if dues else None
            if select.select([self._wakeup], [], [], timeout)[0]:
                self._wakeup.recv(4096)

    def _tend(self, now: float) -> None:
        for name, kept in self._kept.items():
            if kept.due is None and (crash := kept.child.crash()) is not None:
                kept.due = now + self._note(kept, crash, now)
            if kept.due is not None and kept.due <= now:
                kept.child.stop()  # ends any processes left in its session
                kept.child, kept.due = kept.start(), None
                self._changed()
                self._say(f"{name} started again")

    def _note(self, kept: _Kept, crash: EmbeddedError, now: float) -> float:
        """Records a crash and returns the seconds to wait."""
        while kept.crashed and now - kept.crashed[0] > self._patience.window:
            kept.crashed.popleft()
        kept.crashed.append(now)
        if kept.needed and len(kept.crashed) >= self._patience.crashes:
            raise GaveUp(crash, len(kept.crashed), self._patience.window)
        pause = self._patience.pause(len(kept.crashed))
        self._say(f"{crash}; starting it again in {pause:.1f} s")
        return pause


@contextlib.contextmanager
def woken_by_children() -> Iterator[socket.socket]:
    """Yields a socket that becomes readable when a child ends; meanwhile SIGTERM and SIGHUP act like Ctrl-C."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    wanted: dict[signal.Signals, Callable[[int, object], None]] = {
        signal.SIGCHLD: lambda _number, _frame: None,
        signal.SIGINT: interrupt,
        signal.SIGTERM: interrupt,
        signal.SIGHUP: interrupt,
    }
    before = {name: signal.signal(name, handler) for name, handler in wanted.items()}
    previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(previous)
        for name, handler in before.items():
            signal.signal(name, handler)
        reader.close()
        writer.close()


def ignore_interruptions() -> None:
    """Ignores further Ctrl-C, so a second one does not interrupt the shutdown."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
