"""The supervisor, with small stand-in processes."""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from embedded.errors import ChildCrashed, MissingLibrary, NoEngine
from embedded.processes.child import Child, Command
from embedded.processes.diagnosis import crash
from embedded.processes.supervisor import GaveUp, Patience, Supervisor, woken_by_children

QUICK = Patience(crashes=3, window=60.0, first=0.02, longest=0.05)


@pytest.fixture
def wakeup() -> Iterator[socket.socket]:
    with woken_by_children() as reader:
        yield reader


def _command(tmp_path: Path, code: str, *, stop: tuple[tuple[signal.Signals, float], ...] = ()) -> Command:
    return Command(
        name="stand-in",
        argv=[sys.executable, "-c", code],
        log=tmp_path / "stand-in.log",
        stop=stop or ((signal.SIGTERM, 5.0),),
    )


def test_a_crashed_process_is_restarted(tmp_path: Path, wakeup: socket.socket) -> None:
    messages: list[str] = []
    supervisor = Supervisor(wakeup, messages.append, lambda: None, QUICK)
    second_start = tmp_path / "second"
    code = (
        f"import pathlib,time,sys; p=pathlib.Path({str(second_start)!r})\n"
        "if p.exists(): time.sleep(60)\n"
        "p.touch(); sys.exit('no luck')"
    )
    first = supervisor.start(lambda: Child(_command(tmp_path, code)))
    supervisor.run(done=lambda: len(messages) == 2)
    assert "stand-in ended with exit code 1" in messages[0]
    assert '"no luck"' in messages[0]
    assert messages[1] == "stand-in started again"
    [latest] = supervisor.children
    assert latest.pid != first.pid
    assert latest.exit_code() is None
    latest.stop()


def test_a_process_that_keeps_crashing_stops_the_whole_stack(tmp_path: Path, wakeup: socket.socket) -> None:
    messages: list[str] = []
    supervisor = Supervisor(wakeup, messages.append, lambda: None, QUICK)
    supervisor.start(lambda: Child(_command(tmp_path, "raise SystemExit(7)")))
    with pytest.raises(GaveUp, match=r"gave up after 3 crashes .* stand-in ended with exit code 7"):
        supervisor.run()


def test_the_restart_delay_doubles_up_to_a_limit() -> None:
    assert [Patience().pause(recent) for recent in range(1, 7)] == [0.5, 1, 2, 4, 8, 8]


def test_a_crash_during_startup_is_reported(tmp_path: Path, wakeup: socket.socket) -> None:
    supervisor = Supervisor(wakeup, lambda _text: None, lambda: None, QUICK)
    child = supervisor.start(lambda: Child(_command(tmp_path, "import os; os.abort()")))
    child.wait(60)
    with pytest.raises(ChildCrashed, match=r"stand-in ended with signal SIGABRT .*stand-in.log"):
        supervisor.check_alive()


def test_a_child_that_ignores_the_signal_is_killed_with_its_descendants(tmp_path: Path) -> None:
    code = (
        "import signal,subprocess,sys,time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(subprocess.Popen([sys.executable,'-c','import time; time.sleep(60)']).pid, flush=True); time.sleep(60)"
    )
    child = Child(_command(tmp_path, code, stop=((signal.SIGTERM, 0.2),)))
    deadline = time.monotonic() + 60
    while not child.log_tail().strip() and time.monotonic() < deadline:
        time.sleep(0.01)
    grandchild = psutil.Process(int(child.log_tail()))
    child.stop()
    assert child.exit_code() == -signal.SIGKILL
    _, living = psutil.wait_procs([grandchild], timeout=60)
    assert [process for process in living if process.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.parametrize(
    ("tail", "kind", "says"),
    [
        ("x: error while loading shared libraries: libz.so.1: cannot open", MissingLibrary, "libz.so.1"),
        ("cannot execute /venv/bin/weed: No such file or directory", NoEngine, "docker compose up"),
        ("PANIC: could not write: No space left on device", Exception, "the disk is full"),
        ("bind: Address already in use", Exception, "its port is in use"),
        ("one\ntwo\n", ChildCrashed, '"two"'),
        ('{"level": "error", "message": "no settings"}\n', ChildCrashed, '"no settings"'),
    ],
)
def test_a_crash_log_becomes_a_one_line_error(tmp_path: Path, tail: str, kind: type[Exception], says: str) -> None:
    error = crash("postgres", 1, tmp_path / "a.log", tail)
    assert isinstance(error, kind)
    assert says in str(error)
    assert "\n" not in str(error)
