"""A way to a server that a test can lose as a network loses it, without the server's doing."""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

SO_ATTACH_FILTER = 26
DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)  # a packet filter of one instruction: return 0 bytes of each packet


class LosableServer:
    """Passes connections on to a server until it is lost."""

    def __init__(self, url: str) -> None:
        """`url` is the server's; `self.url` the same by way of this object."""
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self._behind = parts.hostname, parts.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = url.replace(f"@{parts.hostname}:{parts.port}", f"@127.0.0.1:{self._listener.getsockname()[1]}")
        self._clients: list[socket.socket] = []
        self._servers: list[socket.socket] = []
        self._lost, self._used = threading.Event(), threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_until_used(self, seconds: float) -> None:
        """Blocks until somebody has connected."""
        assert self._used.wait(seconds)

    def vanish(self) -> None:
        """From now on no packet is acknowledged or answered, as from a machine that is gone."""
        self.hold()
        for one in (self._listener, *self._clients):
            _drop_packets(one)

    def hold(self) -> None:
        """From now on everything is taken and nothing answered, as by a program that hangs."""
        self._lost.set()

    def end(self) -> None:
        """Closes all connections and refuses new ones, as the system of a program that has ended."""
        self._lost.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()
        for one in (*self._clients, *self._servers):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # it is closed
                return
            self._clients.append(client)
            self._used.set()
            if not self._lost.is_set():
                server = socket.create_connection(self._behind)
                self._servers.append(server)
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # one of both is closed
            while part := source.recv(65536):
                if self._lost.is_set():
                    return
                target.sendall(part)
            if not self._lost.is_set():
                target.shutdown(socket.SHUT_WR)


@contextmanager
def losable(url: str) -> Iterator[LosableServer]:
    """Yields a way to the server of `url` (user:password@host:port)."""
    server = LosableServer(url)
    try:
        yield server
    finally:
        server.end()


def _drop_packets(connection: socket.socket) -> None:
    program = ctypes.create_string_buffer(DROP_ALL, len(DROP_ALL))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))
