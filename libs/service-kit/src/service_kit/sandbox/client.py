"""Starts walled processes, through a fork server of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import sendfds
from pathlib import Path
from typing import Any

from service_kit.sandbox.config import SandboxConfig
from service_kit.sandbox.launching import SandboxUnavailable, ask_listener, is_elsewhere, launch
from service_kit.sandbox.messages import Messages
from service_kit.sandbox.walls import Wall

END_SECONDS = 10.0


@dataclass(frozen=True)
class ResourceUsage:
    """`resident_bytes` of a process and its children, `folder_bytes` of what it has written."""

    resident_bytes: int
    folder_bytes: int


class SandboxedProcess:
    """`pid` is its id. Its messages are untrusted: a hostile file may have taken it over."""

    def __init__(self, server: _Server, pid: int, messages: socket.socket) -> None:
        self._server, self.pid, self._messages = server, pid, Messages(messages)

    @property
    def is_idle(self) -> bool:
        """Returns whether it is alive and has sent nothing."""
        return self._messages.is_silent

    def send(self, message: bytes) -> None:
        """Raises OSError when it has ended."""
        self._messages.send(message)

    def send_file(self, descriptor: int) -> None:
        """Passes an open file. Raises OSError when it has ended."""
        self._messages.send_file(descriptor)

    def receive(self, seconds: float, most: int) -> bytes | None:
        """Returns its next message; None if none is complete within `seconds`.

        Raises EOFError when it has ended or sends more than `most` bytes.
        """
        return self._messages.receive(seconds, most)

    def usage(self) -> ResourceUsage:
        """Returns its usage. Raises SandboxUnavailable when the fork server, and so the process, has ended."""
        return ResourceUsage(**self._server.ask({"do": "usage", "pid": self.pid}))

    def end(self) -> None:
        """Kills it and everything that it started, removes its folder, and returns when that is done."""
        self._server.forget(self.pid)
        self._messages.close()


class Sandbox:
    """Starts processes of `config`'s task, also from several threads, until it is closed.

    The fork server is started with the first process, and restarted if it has ended: by the listener in another
    container, whose socket `listener` is, otherwise here.
    """

    def __init__(self, config: SandboxConfig, listener: Path | None = None) -> None:
        self._config, self._listener = config, listener
        self._lock = threading.Lock()
        self._server: _Server | None = None

    @property
    def walls(self) -> tuple[Wall, ...]:
        """Waits until the fork server is ready. Raises SandboxUnavailable."""
        return self._running().walls()

    def prepare(self) -> None:
        """Starts the fork server without waiting until it is ready. Raises SandboxUnavailable."""
        self._running()

    def start(self) -> SandboxedProcess:
        """Raises SandboxUnavailable."""
        ours, theirs = _socket_pair()
        with theirs:
            try:
                server, pid = self._started(theirs.fileno())
            except BaseException:
                ours.close()
                raise
        return SandboxedProcess(server, pid, ours)

    def close(self) -> None:
        """Ends the fork server and everything that it started."""
        with self._lock:
            server, self._server = self._server, None
        if server:
            server.close()

    def _started(self, messages: int) -> tuple[_Server, int]:
        server = self._running()
        try:
            return server, server.start(messages)
        except SandboxUnavailable:
            if not server.ended:
                raise
        server = self._running()
        return server, server.start(messages)

    def _running(self) -> _Server:
        with self._lock:
            if self._server is None or self._server.ended:
                if self._server:
                    self._server.close()
                self._server = _Server(self._config, self._listener)
            return self._server


class _Server:
    """The client side of the fork server. One request at a time."""

    def __init__(self, config: SandboxConfig, listener: Path | None) -> None:
        self._lock = threading.Lock()
        self.ended = False
        self._walls: tuple[Wall, ...] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._container: tuple[Wall, ...] = ()
        if listener:
            self._socket = ask_listener(listener, config)
            self._container = (_container(is_elsewhere(self._socket)),)
        else:
            self._socket, theirs = _socket_pair()
            with theirs:
                self._process = launch(config, theirs)
        self._control = Connection(os.dup(self._socket.fileno()))

    def walls(self) -> tuple[Wall, ...]:
        """Returns the walls that it reports when it is ready. Raises SandboxUnavailable."""
        with self._lock:
            self._wait()
            assert self._walls is not None
            return self._walls

    def start(self, messages: int) -> int:
        with self._lock:
            self._wait()
            self._send({"do": "start"})
            try:
                sendfds(self._socket, [messages])
            except OSError as error:
                raise self._end(error) from None
            answer = self._receive()
        if "error" in answer:
            raise SandboxUnavailable(answer["error"])
        return int(answer["pid"])

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self._send(request)
            answer: dict[str, Any] = self._receive()
            return answer

    def forget(self, pid: int) -> None:
        try:
            self.ask({"do": "end", "pid": pid})
        except SandboxUnavailable:
            return  # it ended with the server

    def close(self) -> None:
        self.ended = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes anyone who is waiting for an answer
        self._socket.close()
        with self._lock:
            self._control.close()
            if self._process and self._walls is None:
                self._process.kill()  # still loading: it has not started any process
        if self._process:
            _wait_for_end(self._process)

    def _wait(self) -> None:
        if self._walls is None:
            self._walls = (*self._container, *(Wall(**wall) for wall in self._receive()))

    def _send(self, request: dict[str, Any]) -> None:
        try:
            self._control.send_bytes(json.dumps(request).encode())
        except OSError as error:
            raise self._end(error) from None

    def _receive(self) -> Any:
        try:
            return json.loads(self._control.recv_bytes())
        except (EOFError, OSError) as error:
            raise self._end(error) from None

    def _end(self, error: Exception) -> SandboxUnavailable:
        self.ended = True
        return SandboxUnavailable(f"the fork server has ended ({type(error).__name__})")


def _container(is_apart: bool) -> Wall:
    if is_apart:
        return Wall("container", True, "a container of its own, without the worker's secrets, files and processes")
    return Wall("container", False, "the converter runs beside the worker")


def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Returns two blocking sockets. The standard library's do not block while another thread has set a default timeout.

    Celery's thread sets one briefly in each attempt to reconnect to its broker.
    """
    pair = socket.socketpair()
    for end in pair:
        end.setblocking(True)
    return pair
