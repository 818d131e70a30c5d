"""A port that remains reserved for a test between its choice and its use."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port(*, shared: bool = False) -> Iterator[int]:
    """Yields a port of the loopback interface that refuses connections until a server of the test listens there.

    The socket stays bound and never listens, so the system gives the port to nobody else; a server with SO_REUSEADDR,
    which all of ours set, can still listen on it. `shared`: by several sockets (SO_REUSEPORT).
    """
    with socket.socket() as holding:
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holding.bind(("127.0.0.1", 0))
        yield holding.getsockname()[1]
