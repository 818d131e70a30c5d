"""Starts fork servers: as a child of this process, or by asking the listener in another container."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from service_kit.sandbox.config import SandboxConfig
from service_kit.sandbox.messages import Messages

# The environment variables that readers need; none of them ever holds a secret.
PASSED_ON = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED"}
    | {"MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
NO_HOME = "/nonexistent"  # libraries look up a home folder, which a user without an entry does not have
CONNECT_SECONDS, PAUSE_SECONDS = 30.0, 0.2
CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


class SandboxUnavailable(Exception):
    """No process could be started."""


def launch(config: SandboxConfig, control: socket.socket) -> subprocess.Popen[bytes]:
    """Starts a fork server that takes requests over `control`, with an environment without secrets."""
    # Nothing is imported from the working folder (-P) or a home folder (-s).
    command = [sys.executable, "-P", "-s", "-m", "service_kit.sandbox.forkserver", str(control.fileno())]
    return subprocess.Popen(
        [*command, config.written()],
        stdin=subprocess.DEVNULL,
        env=passed_on(os.environ),
        pass_fds=[control.fileno()],
    )


def ask_listener(address: Path, config: SandboxConfig) -> socket.socket:
    """Returns the connection to a fork server of the listener, which may still be starting.

    Raises SandboxUnavailable.
    """
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(address))
            Messages(connection).send(config.written().encode())
        except OSError as error:
            connection.close()
            if time.monotonic() > deadline:
                raise SandboxUnavailable(f"the converter does not answer ({error.strerror})") from None
            time.sleep(PAUSE_SECONDS)
        else:
            connection.setblocking(True)
            return connection


def is_elsewhere(connection: socket.socket) -> bool:
    """Returns whether the listener is outside this process's PID namespace, where it has no process id."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return bool(CREDENTIALS.unpack(credentials)[0] == 0)


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the part of an environment that readers of hostile bytes may see."""
    passed = {name: value for name, value in environment.items() if name in PASSED_ON or name.startswith("LC_")}
    return {**passed, "HOME": NO_HOME}
