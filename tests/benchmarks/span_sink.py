"""A process that takes spans and drops them, so that reading them costs the measured processes nothing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from embedded.ports import free_port


class SpanSink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Writes nothing."""


def serve(port: int) -> None:
    ThreadingHTTPServer(("127.0.0.1", port), SpanSink).serve_forever()


@contextmanager
def span_sink() -> Iterator[str]:
    """Yields the URL."""
    port = free_port([])
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port,))
    process.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.join()
