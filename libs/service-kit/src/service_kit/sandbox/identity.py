"""Namespaces, users and capabilities of a process."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from service_kit.sandbox.syscalls import NUMBERS, architecture, prctl, syscall, unshare

NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
# From the strictest to the weakest; a kernel may lack some of them, or refuse all.
NAMESPACES = (NEW_NET | NEW_PID | NEW_IPC | NEW_UTS, NEW_NET | NEW_PID, NEW_NET)
FIRST_UID, UIDS = 65_020, 480  # below 65,534, which is `nobody`; Debian assigns none of these
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 4, 24, 28, 38, 47
CLEAR_ALL = 4
# NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, each locked: user 0 has no special rights
SECURE_BITS = 0b11_10_11_11
CAPABILITY_VERSION = 0x20080522
CAPABILITIES = 64


def leave_namespaces(flags: int) -> None:
    """Enters new namespaces; a new process namespace begins with the next child.

    Root can enter the others directly; other users first enter a user namespace. Raises OSError.
    """
    if os.geteuid() == 0:
        unshare(flags)
        return
    uid, gid = os.geteuid(), os.getegid()
    prctl(PR_SET_DUMPABLE, 1)  # otherwise the id maps would belong to root
    unshare(flags | NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def become(uid: int) -> None:
    """Switches from root to a user without rights. Raises OSError."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def give_up_privileges() -> None:
    """Drops every capability for good; no program started from here can have more rights. Raises OSError."""
    with suppress(OSError):  # without the right to drop capabilities, it has none to drop
        for capability in range(CAPABILITIES):
            prctl(PR_CAPBSET_DROP, capability)
    with suppress(OSError):
        prctl(PR_SET_SECUREBITS, SECURE_BITS)
    with suppress(OSError):  # since Linux 4.3
        prctl(PR_CAP_AMBIENT, CLEAR_ALL)
    machine = architecture()
    if machine is not None:
        number = NUMBERS["capset"][machine]
        assert number is not None
        syscall(number, struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 0)


def unreadable_by(uid: int, paths: Iterable[Path]) -> Path | None:
    """Returns the first path that this user cannot read, None if there is none. Checked in a separate process."""
    needed = [(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK) for path in paths if path.exists()]
    child = os.fork()
    if child == 0:
        found = 255
        try:
            become(uid)
            unreadable = (place for place, (path, rights) in enumerate(needed) if not os.access(path, rights))
            found = next(unreadable, -1) + 1
        finally:
            os._exit(found)
    place = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return needed[min(place, len(needed)) - 1][0] if place else None
