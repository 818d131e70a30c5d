"""Ports on the loopback interface."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"
# SeaweedFS opens a gRPC port 10000 above each of its ports. Both are below the system's range for outgoing connections,
# so no such connection can take them between choice and start. An installation's internal ports begin above the
# highest, so a port chosen at random is never one of them.
GRPC_OFFSET = 10_000
WAITING_CALLERS = 2_048
_LOWEST, _HIGHEST = 11_000, 18_000


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Returns whether a server could listen there now.

    Raises OSError for any other reason than a port in use, such as a port that needs privileges.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        return True


def listening(port: int, host: str = LOOPBACK) -> socket.socket:
    """Returns a socket that listens on the port, for successive processes to serve.

    While a process restarts, its clients wait and no other program can take the port. Raises OSError.
    """
    held = socket.create_server((host, port), backlog=WAITING_CALLERS)
    held.set_inheritable(True)
    return held


def free_port(taken: Collection[int] = ()) -> int:
    """Returns a port that is free together with the one 10000 above it, and not among `taken`."""
    while True:
        port = secrets.randbelow(_HIGHEST - _LOWEST) + _LOWEST  # not `random`: tests seed it alike in each process
        if port not in taken and is_free(port) and is_free(port + GRPC_OFFSET):
            return port


def prefer(port: int, taken: Collection[int] = ()) -> int:
    """Returns this port if it is free (with the one 10000 above), otherwise another."""
    if port not in taken and is_free(port) and is_free(port + GRPC_OFFSET):
        return port
    return free_port(taken)
