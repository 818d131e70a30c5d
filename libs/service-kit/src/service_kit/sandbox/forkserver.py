"""The fork server: a process without secrets that has loaded what readers need, and starts walled processes.

It reads no hostile bytes itself. It answers requests, each a JSON object, one at a time; `start` carries the
descriptors for the new process. When its client ends, so does it, with everything that it started.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import Any

from service_kit.sandbox.config import SandboxConfig
from service_kit.sandbox.identity import unreadable_by
from service_kit.sandbox.process import Run, Task, fork_walled
from service_kit.sandbox.syscalls import prctl
from service_kit.sandbox.usage import folder_bytes, resident_bytes
from service_kit.sandbox.walls import Walls, readable_paths, refuse_inspection, survey

PR_SET_CHILD_SUBREAPER = 36


@dataclass
class _Child:
    folder: Path
    ended: bool = False


@dataclass
class ForkServer:
    """Serves one client."""

    control: Connection
    config: SandboxConfig
    task: Task
    walls: Walls
    folder: Path
    children: dict[int, _Child] = field(default_factory=dict)
    started: int = 0

    def serve(self) -> None:
        self.control.send_bytes(json.dumps([asdict(wall) for wall in self.walls.found]).encode())
        woken, waking = os.pipe()
        for end in (woken, waking):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        try:
            while True:
                ready = wait([self.control, woken])
                if woken in ready:
                    os.read(woken, 4096)
                    self._reap()
                if self.control in ready:
                    self.control.send_bytes(json.dumps(self._answer(json.loads(self.control.recv_bytes()))).encode())
        except (EOFError, ConnectionError):
            pass  # the client has ended
        finally:
            for pid in list(self.children):
                self._end(pid)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "start":
            return self._start()
        pid = int(request["pid"])
        if request["do"] == "end":
            self._end(pid)
            return {}
        child = self.children.get(pid)
        if child is None or child.ended:
            return {"resident_bytes": 0, "folder_bytes": 0}
        return {"resident_bytes": resident_bytes(pid), "folder_bytes": folder_bytes(child.folder)}

    def _start(self) -> dict[str, Any]:
        messages = recv_handle(self.control)
        try:
            folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=self.folder))
            try:
                uid = self.walls.uid_of(self.started)
                if uid is not None:
                    os.chown(folder, uid, uid)
                pid = fork_walled(self.task, self.walls, folder, self.started, messages)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        except OSError as error:
            return {"error": str(error)}
        finally:
            os.close(messages)
        self.started += 1
        self.children[pid] = _Child(folder)
        return {"pid": pid}

    def _reap(self) -> None:
        for pid, child in self.children.items():
            if not child.ended and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._kill(pid)  # the processes it left behind; its pid is not reused until it has been waited for
                child.ended = True
                os.waitpid(pid, 0)

    def _end(self, pid: int) -> None:
        """Kills the process and what it started, and removes its folder."""
        child = self.children.pop(pid, None)
        if child is None:
            return
        if not child.ended:
            self._kill(pid)
            os.waitpid(pid, 0)
        shutil.rmtree(child.folder, ignore_errors=True)

    def _kill(self, pid: int) -> None:
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)


def prepared(config: SandboxConfig) -> tuple[Task, Walls]:
    """Imports what the processes need, and returns the task and the available walls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal: the client ends this process
    more = [Path(name) for name in config.readable]
    import_module(config.preload)
    module, _, function = config.task.partition(":")
    run: Run = getattr(import_module(module), function)
    gc.collect()
    gc.freeze()  # a collection in a child would otherwise write to, and so copy, every page it shares
    if sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # a walled process is forked twice
    refuse_inspection()
    readable = readable_paths(config.programs, more)
    return Task(run, readable, config.programs), survey(readable, config.is_apart)


def folder_for(walls: Walls, config: SandboxConfig) -> Path:
    """Returns the parent of the processes' folders: the system's if their users cannot enter the configured one."""
    folder = Path(config.folder or tempfile.gettempdir())
    if walls.uid is not None and unreadable_by(walls.uid, [folder]):
        return Path(tempfile.gettempdir())
    return folder


def main() -> None:
    control = Connection(int(sys.argv[1]))
    config = SandboxConfig(**json.loads(sys.argv[2]))
    task, walls = prepared(config)
    ForkServer(control, config, task, walls, folder_for(walls, config)).serve()


if __name__ == "__main__":
    main()
