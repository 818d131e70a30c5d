"""A receiver of traces: OTLP over HTTP, as an OpenTelemetry collector or Jaeger would take them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True)
class ReceivedSpan:
    """A span; `resource` are the attributes of its process, `everything` is all of it as text."""

    trace_id: str
    name: str
    kind: int
    attributes: dict[str, str]
    resource: dict[str, str]
    everything: str

    @property
    def service(self) -> str:
        return self.resource["service.name"]

    @property
    def is_of_a_request(self) -> bool:
        return self.kind == Span.SPAN_KIND_SERVER


class OtlpReceiver:
    """Keeps the spans that processes send to `url`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._spans = list[ReceivedSpan]()
        self._changed = threading.Condition()

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[OtlpReceiver]:
        """Receives until the block ends, on a free port of this machine."""

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver._add(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Writes nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            receiver = cls(f"http://127.0.0.1:{server.server_port}")
            serving = threading.Thread(target=server.serve_forever, daemon=True)
            serving.start()
            try:
                yield receiver
            finally:
                server.shutdown()
                serving.join()

    @property
    def spans(self) -> list[ReceivedSpan]:
        with self._changed:
            return list(self._spans)

    def wait_for(self, trace_id: str, done: Callable[[Sequence[ReceivedSpan]], bool], seconds: float) -> bool:
        """Blocks until the spans of the trace are `done`; returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: done(of_trace(self._spans, trace_id)), seconds)

    def _add(self, request: ExportTraceServiceRequest) -> None:
        found = [
            ReceivedSpan(
                trace_id=span.trace_id.hex(),
                name=span.name,
                kind=span.kind,
                attributes=_texts(span.attributes),
                resource=_texts(of_process.resource.attributes),
                everything=f"{span} {of_process.resource}",
            )
            for of_process in request.resource_spans
            for scope in of_process.scope_spans
            for span in scope.spans
        ]
        with self._changed:
            self._spans += found
            self._changed.notify_all()


def of_trace(spans: Sequence[ReceivedSpan], trace_id: str) -> list[ReceivedSpan]:
    return [span for span in spans if span.trace_id == trace_id]


def _texts(attributes: Sequence[KeyValue]) -> dict[str, str]:
    return {one.key: str(getattr(one.value, one.value.WhichOneof("value") or "string_value")) for one in attributes}
