"""Executes another program so that it cannot outlive the process that started it.

Run as a script, by path, with `python -I -S` (it imports nothing of this package and starts in 20 ms):

    leash.py SIGNAL PARENT_PID UID GID PROGRAM [ARGUMENT...]

On Linux the kernel sends SIGNAL when the parent dies, for whatever reason (prctl(2), PR_SET_PDEATHSIG). UID and GID are
numbers, or "-" to keep the current user. This is a program and not a `preexec_fn`, which is unsafe with threads; and
changing the user clears the parent-death signal, so the order matters.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
CANNOT_EXECUTE = 127


def main(arguments: list[str]) -> int:
    death_signal, parent, uid, gid, *command = arguments
    if uid != "-":
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
    os.umask(0o077)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != int(parent):
        return 1  # the parent died before the signal was set
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot execute {command[0]}: {error.strerror}\n")
    return CANNOT_EXECUTE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
