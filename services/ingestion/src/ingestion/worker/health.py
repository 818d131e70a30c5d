"""The private port of a worker: its readiness, by its contact with the broker, and its metrics."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from http import HTTPStatus
from socketserver import ThreadingMixIn
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app

SILENT_SECONDS = 30.0  # heartbeats to the broker are two seconds apart


class SignsOfLife:
    """Records when the worker was last in contact with the broker."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None

    def give(self) -> None:
        self._last = self._clock()

    @property
    def status(self) -> str:
        """`ready`, `starting` before the first sign of life, or `silent` if the last one is too long ago."""
        if self._last is None:
            return "starting"
        return "ready" if self._clock() - self._last < SILENT_SECONDS else "silent"


class _PrivatePort(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Does not log requests."""


def serve_inside(
    registry: CollectorRegistry,
    signs: SignsOfLife,
    host: str,
    port: int,
    stack: ExitStack,
    descriptor: int | None = None,
) -> None:
    """Serves `/readyz` and `/metrics` in a thread until the stack closes. Raises OSError if the port is in use.

    `descriptor` is a socket already listening on the port, if the parent process has opened one.
    """
    metrics = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        match environ["PATH_INFO"]:
            case "/metrics":
                page: Iterable[bytes] = metrics(environ, start_response)
                return page
            case "/readyz":
                status = signs.status
                code = HTTPStatus.OK if status == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
                body = json.dumps({"status": status}).encode()
            case _:
                code, body = HTTPStatus.NOT_FOUND, b"{}"
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        start_response(f"{code.value} {code.phrase}", headers)
        return [body]

    server = _PrivatePort((host, port), _Handler, bind_and_activate=descriptor is None)
    if descriptor is not None:
        os.set_inheritable(descriptor, False)
        server.socket.close()
        server.socket = socket.socket(fileno=descriptor)
        server.server_name, server.server_port = host, port
        server.setup_environ()
    server.set_app(answer)
    thread = Thread(target=server.serve_forever, name="private port", daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    stack.callback(stop)
