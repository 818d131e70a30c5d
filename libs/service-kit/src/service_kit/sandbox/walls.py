"""The walls around a process: which of them this machine has, and how a process goes behind them."""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from service_kit.sandbox import landlock
from service_kit.sandbox.identity import (
    FIRST_UID,
    NAMESPACES,
    NEW_PID,
    PR_SET_DUMPABLE,
    UIDS,
    become,
    give_up_privileges,
    leave_namespaces,
    unreadable_by,
)
from service_kit.sandbox.seccomp import Filter
from service_kit.sandbox.syscalls import prctl

LINUX = sys.platform == "linux"
TASKS = 512  # processes and threads; native libraries start several per CPU
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/sys/devices/system/cpu", "/etc/fonts", "/etc/alternatives")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/proc/cpuinfo")
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
# Read by LibreOffice, the only program that is started.
PROGRAM_FILES = ("/etc/passwd", "/etc/nsswitch.conf", "/etc/libreoffice", "/proc/meminfo", "/proc/sys", "/proc/version")


@dataclass(frozen=True)
class Wall:
    """`detail` says how it is built, or why it is missing."""

    name: str
    active: bool
    detail: str


@dataclass(frozen=True)
class Walls:
    """The walls that this machine provides, determined once by trying.

    `namespaces` are flags of unshare(2); `uid` is the first of the users to switch to, None to stay the same user.
    """

    found: tuple[Wall, ...]
    namespaces: int
    uid: int | None
    files: bool
    calls: bool
    tasks: bool

    @property
    def own_processes(self) -> bool:
        """Returns whether a process has a process namespace, and so has to be forked twice."""
        return bool(self.namespaces & NEW_PID)

    def uid_of(self, number: int) -> int | None:
        """Returns the user of the process with this number; concurrent processes have different ones."""
        return None if self.uid is None else self.uid + number % UIDS


def refuse_inspection() -> None:
    """Keeps other processes of this user from reading this one's memory and environment, if the kernel can."""
    if LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def readable_paths(programs: bool, more: Sequence[Path] = ()) -> list[Path]:
    """Returns the paths that a process needs to read: the system's programs, Python, its packages and `more`."""
    python = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        *(Path(entry) for entry in sys.path if Path(entry).is_absolute()),
    }
    named = [*SYSTEM_FOLDERS, *SYSTEM_FILES, *(PROGRAM_FILES if programs else ())]
    found = [*(Path(name) for name in named), *python, *more]
    return [path for path in dict.fromkeys(found) if path != Path("/")]


def survey(readable: Sequence[Path], is_apart: bool = False) -> Walls:
    """Returns the walls that this machine allows. Forks: call it before the process has threads.

    `is_apart`: in a container that only converts, where a missing network interface is a wall too.
    """
    environment = Wall("environment", True, "only variables without secrets are passed on")
    if not LINUX:
        return Walls((environment, *_missing_elsewhere()), 0, None, files=False, calls=False, tasks=False)
    namespaces, network = _namespaces()
    if is_apart and not network.active and [name for _, name in socket.if_nameindex()] == ["lo"]:
        network = Wall("network", True, "the container has no network")
    uid, user = _user(readable)
    files, calls = _landlock(), _seccomp()
    processes = _processes(namespaces)
    tasks = uid is not None or (namespaces != 0 and os.geteuid() != 0)
    privileges = Wall("privileges", True, "no capability, no-new-privileges")
    found = (environment, user, privileges, network, processes, files, calls, _tasks(tasks))
    return Walls(found, namespaces, uid, files.active, calls.active, tasks)


def go_behind(walls: Walls, readable: Sequence[Path], folder: Path, number: int, programs: bool) -> None:
    """Puts this process behind the walls for good, after it has entered its namespaces. Only `folder` stays writable.

    Raises OSError: then nothing may be read.
    """
    os.chdir(folder)
    if not LINUX:
        return
    if walls.tasks:
        resource.setrlimit(resource.RLIMIT_NPROC, (TASKS, TASKS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rules = _rules(readable, programs) if walls.files else None
    uid = walls.uid_of(number)
    if uid is not None:
        become(uid)
    give_up_privileges()
    if rules:
        rules.enforce()


def close_the_last(walls: Walls, programs: bool) -> None:
    """Filters system calls from now on; the other walls still need them. Raises OSError."""
    if walls.calls:
        Filter(programs).install()


def _rules(readable: Sequence[Path], programs: bool) -> landlock.Ruleset:
    rules = landlock.Ruleset()
    rules.allow(readable, landlock.READ | (landlock.EXECUTE if programs else 0))
    rules.allow([Path(name) for name in DEVICES], landlock.READ_FILE | landlock.WRITE_FILE)
    rules.allow([Path()], landlock.READ | landlock.CHANGE | (landlock.MAKE_SOCKET if programs else 0))
    return rules


def _namespaces() -> tuple[int, Wall]:
    refused = ""
    for flags in NAMESPACES:
        reason = _tried(partial(leave_namespaces, flags))
        if reason is None:
            return flags, Wall("network", True, "a network namespace without any interface")
        refused = refused or reason
    return 0, Wall("network", False, f"the kernel refuses a network namespace ({refused})")


def _processes(namespaces: int) -> Wall:
    if namespaces & NEW_PID:
        return Wall("processes", True, "a process namespace of its own")
    return Wall("processes", False, "the kernel refuses a process namespace")


def _user(readable: Sequence[Path]) -> tuple[int | None, Wall]:
    if os.geteuid() != 0:
        return None, Wall("user", False, "the worker is not root, so its processes keep its user")
    reason = _tried(lambda: become(FIRST_UID))
    if reason is not None:
        return None, Wall("user", False, f"the kernel refuses another user ({reason})")
    if hidden := unreadable_by(FIRST_UID, [path for path in readable if not str(path).startswith("/etc/")]):
        return None, Wall("user", False, f"{hidden} can be read by root alone")
    return FIRST_UID, Wall("user", True, f"users {FIRST_UID} to {FIRST_UID + UIDS - 1}, who own nothing")


def _landlock() -> Wall:
    try:
        found = landlock.version()
    except OSError as error:
        return Wall("files", False, f"the kernel has no Landlock ({error.strerror})")
    return Wall("files", True, f"Landlock, version {found}")


def _seccomp() -> Wall:
    def install() -> None:
        give_up_privileges()
        Filter(programs=False).install()

    reason = _tried(install)
    if reason is not None:
        return Wall("system-calls", False, f"the kernel refuses a filter ({reason})")
    return Wall("system-calls", True, "a filter of system calls (seccomp)")


def _tasks(counted: bool) -> Wall:
    if counted:
        return Wall("process-count", True, f"at most {TASKS} processes and threads")
    return Wall("process-count", False, "all processes of this user would be counted together")


def _missing_elsewhere() -> list[Wall]:
    names = ("user", "privileges", "network", "processes", "files", "system-calls", "process-count")
    return [Wall(name, False, f"{sys.platform} has none") for name in names]


def _tried(action: Callable[[], None]) -> str | None:
    """Tries the action in a separate process; returns None, or why it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        except OSError as error:
            os.write(writing, (error.strerror or type(error).__name__).encode())
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        text = file.read().decode()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if ended == 0 else text or f"ended with {ended}"
