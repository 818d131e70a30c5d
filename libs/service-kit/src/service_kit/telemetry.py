"""Structured logs and Prometheus metrics of one process, and the middleware that records requests in them."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

from opentelemetry.trace import INVALID_SPAN, SpanKind, StatusCode, use_span
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Info,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.process_collector import ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_kit.migrate import migrations, short_name
from service_kit.process_metrics import ProcessMetrics
from service_kit.readings import Readings, counter
from service_kit.tracing import configure_tracing, current_trace_id, span
from service_kit.version import VERSION

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})  # callers may send anything else
QUIET_PATHS = frozenset({"/livez", "/readyz", "/metrics"})
REFUSALS = ("not-http", "request-timeout", "header-too-large", "too-many-connections")  # by `bounded_http`
BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, service, logger, message, trace id, and whatever `extra` carries."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self.service = service

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self.service,
            "logger": record.name,
            "message": record.getMessage(),
            "trace_id": current_trace_id(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure_telemetry(service: str, log_level: str, otlp_endpoint: str | None) -> None:
    """Sets up logs to standard output, and tracing: once per process, before anything else."""
    configure_logs(service, log_level)
    configure_tracing(service, otlp_endpoint)
    disable_created_metrics()  # type: ignore[no-untyped-call]  # a series for each series, which nobody asks for


def configure_logs(service: str, log_level: str) -> None:
    """Sets up logs to standard output."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter(service))
    logging.basicConfig(level=log_level, handlers=[handler], force=True)
    for noisy in ("httpx2", "httpcore2", "urllib3", "neo4j.notifications"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(end_with_reason)


def end_with_reason(record: logging.LogRecord) -> bool:
    """Makes the reason of a failed start the last message. uvicorn logs a traceback, then a line without the reason."""
    text = record.getMessage()
    if text.startswith("Traceback "):
        vars(record).update(msg=text.rstrip().rpartition("\n")[2], args=(), exception=text)
    return text != "Application startup failed. Exiting."


def describe_process(registry: CollectorRegistry, package: str | None) -> None:
    """Adds the process's resource usage, its version, and the newest migration of `package`, its service."""
    ProcessCollector(registry=registry)
    newest = max((name for name, _ in migrations(package)), default="") if package else ""
    Info("attractor_build", "Version of the running code and of its database schema", registry=registry).info(
        {"version": VERSION, "schema": short_name(newest)}
    )


class Metrics:
    """The metrics of one process, in a separate registry (so that a test can build several apps).

    `package` is the service's, whose migrations determine the version of its schema. `processes` are those of the
    service, if it has several.
    """

    processes: ProcessMetrics | None = None

    def __init__(self, package: str | None = None) -> None:
        self.registry = CollectorRegistry()
        describe_process(self.registry, package)
        self.requests = Histogram(
            "attractor_http_request_seconds",
            "Duration of HTTP requests",
            ["method", "route", "status"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.refused_connections = counter(
            "attractor_connections_refused_total",
            "Connections closed before a complete request had arrived, by reason",
            self.registry,
            reason=REFUSALS,
        )
        self.events = Counter(
            "attractor_events_total",
            "Events by consumer group and result (handled, skipped, failed, dead, refused, waiting)",
            ["group", "type", "result"],
            registry=self.registry,
        )
        self.readings = Readings(self.registry)
        self.restarts = Counter(
            "attractor_background_restarts_total",
            "Background tasks that failed and were restarted",
            ["task"],
            registry=self.registry,
        )

    async def exposition(self) -> bytes:
        """Returns the metrics of all processes of the service, in Prometheus's format."""
        return await (self.processes.joined(self.own) if self.processes else self.own())

    async def own(self) -> bytes:
        """Returns the metrics of this process."""
        await self.readings.refresh()
        return generate_latest(self.registry)


class RequestTelemetry:
    """ASGI middleware: continues the caller's trace, measures the request and logs one line for it.

    The line includes the fields that authentication sets in `request.state.logged`: the caller, never a credential.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self.log = logging.getLogger("service_kit.requests")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        method = scope["method"] if scope["method"] in METHODS else "other"
        is_quiet = scope["path"] in QUIET_PATHS
        with use_span(INVALID_SPAN) if is_quiet else span(method, headers, SpanKind.SERVER) as current:
            try:
                await self.app(scope, receive, observed)
            finally:
                route = getattr(scope.get("route"), "path", "unmatched")
                # The path itself is not recorded: it has ids, and may contain a secret.
                current.update_name(f"{method} {route}")
                current.set_attributes(
                    {"http.request.method": method, "http.route": route, "http.response.status_code": status}
                )
                if status >= 500:
                    current.set_status(StatusCode.ERROR)
                self._record(scope, method, route, status, time.perf_counter() - start)

    def _record(self, scope: Scope, method: str, route: str, status: int, seconds: float) -> None:
        self.metrics.requests.labels(method, route, status).observe(seconds)
        if scope["path"] not in QUIET_PATHS:
            extra = {
                "method": scope["method"],
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
            }
            self.log.info("request", extra=extra | scope.get("state", {}).get("logged", {}))
