"""Runs an application under uvicorn."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import resource
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from service_kit.bounded_http import BoundedHttp, HttpBounds
from service_kit.command import STARTUP_FAILED
from service_kit.connections import Connections
from service_kit.first_process import TERMINATED
from service_kit.http_service import IDLE_SECONDS
from service_kit.process_metrics import ProcessMetrics
from service_kit.processes import ForkedServers, count_processes, listening_sockets
from service_kit.schema import require_schema
from service_kit.settings import ServiceSettings
from service_kit.telemetry import Metrics, configure_logs, configure_telemetry

log = logging.getLogger(__name__)
GRACEFUL_SECONDS = 10
DRAIN_SECONDS = IDLE_SECONDS + 0.5
PRIVATE_CONNECTIONS = 100
YOUNG_OBJECTS = 20_000  # between two garbage collections
OTHER_FILES = 512  # file descriptors that are not client connections


def serve(
    name: str,
    settings: ServiceSettings,
    build: Callable[[], FastAPI],
    connections_per_address: int | None = None,
    tls: Mapping[str, Path] | None = None,
) -> None:
    """Serves on a schema that fits, as `serve_app` does. Raises SchemaUnfit, and Unavailable if the database does not
    answer.
    """
    configure_logs(name, settings.log_level)
    asyncio.run(require_schema(settings, name.replace("-", "_")))
    serve_app(name, settings, build, connections_per_address, tls)


def serve_app(
    name: str,
    settings: ServiceSettings,
    build: Callable[[], FastAPI],
    connections_per_address: int | None = None,
    tls: Mapping[str, Path] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT; open requests then have ten seconds to finish. `tls`: `TlsSettings.tls`.

    With several processes (SERVER_PROCESSES), each builds an application of its own.
    """
    _allow_files(settings.max_connections + OTHER_FILES)

    def run(public: socket.socket | None, private: socket.socket | None, processes: ProcessMetrics | None) -> None:
        configure_telemetry(name, settings.log_level, settings.otel_exporter_otlp_endpoint)
        app, admitted = build(), Connections(settings.max_connections, connections_per_address)
        app.state.metrics.processes = processes
        options: dict[str, Any] = {"timeout_graceful_shutdown": GRACEFUL_SECONDS}
        public_options: dict[str, Any] = {**options, **(tls or {}), "host": settings.host, "port": settings.port}
        config = server_config(app, admitted, **public_options)
        server = StoppingServer(config)
        if settings.private_port is not None:
            options |= {"host": settings.private_host, "port": settings.private_port, "lifespan": "off"}
            inside = server_config(app.state.private, Connections(PRIVATE_CONNECTIONS), **options)
            server = ServerOfTwoPorts(config, inside, [private] if private else None)
        try:
            server.run([public] if public else None)
        except KeyboardInterrupt:
            return
        except asyncio.CancelledError:
            sys.exit(TERMINATED)  # it was still starting
        if not server.started:
            sys.exit(STARTUP_FAILED)

    if (count := count_processes(settings.server_processes)) == 1:
        run(_held(settings.port_fd), _held(settings.private_port_fd), None)
    else:
        _serve_by(count, settings, run)


def _serve_by(
    count: int,
    settings: ServiceSettings,
    run: Callable[[socket.socket | None, socket.socket | None, ProcessMetrics | None], None],
) -> None:
    private: Sequence[socket.socket] = ()
    try:
        public = listening_sockets(count, settings.host, settings.port, settings.port_fd)
        if settings.private_port is not None:
            private = listening_sockets(count, settings.private_host, settings.private_port, settings.private_port_fd)
    except OSError as error:
        log.error("the port cannot be opened", extra={"reason": str(error)})
        sys.exit(STARTUP_FAILED)
    telling = ProcessMetrics.sockets(count)

    def of_process(number: int) -> None:
        own = ProcessMetrics(number, telling)
        for sockets in (public, private, telling):
            for other in set(sockets) - set(sockets[number : number + 1]):
                other.close()
        run(public[number], private[number] if private else None, own)

    ForkedServers(count, of_process, [*public, *private]).serve()


class StoppingServer(uvicorn.Server):
    """Stops without failing a request: the application is informed at once and reports not ready, new connections are
    refused, and each open one ends after its next response or when its client no longer uses it.

    uvicorn itself closes idle connections at once, even if a request is on its way, and finishes a start first.
    """

    starting: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Takes signals as requests to stop. uvicorn would send them to the process again, which has stopped."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self.starting is not None:
            self.starting.get_loop().call_soon_threadsafe(self.starting.cancel)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.starting = asyncio.current_task()
        await super().startup(sockets)
        self.starting = None
        metrics: Metrics = self.config.app.state.metrics  # type: ignore[union-attr]  # uvicorn knows nothing of FastAPI
        if metrics.processes:
            self.servers.append(await metrics.processes.listen(metrics.own))
        # What the start made stays, and a full collection would read all of it: a tenth of a second, during a request.
        # Requests make few cycles, so the young are not read after every 700 of them.
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app: Any = self.config.app
        app.state.health.is_stopping = True
        for tell in app.state.on_stop:
            tell()
        for server in self.servers:
            server.close()
        for one in sockets or []:
            one.close()
        await self._drain()
        await super().shutdown()

    async def _drain(self) -> None:
        """Waits until no idle connection is left, or clients (`service_client`) no longer use those that are."""
        open_connections: set[Any] = self.server_state.connections
        for connection in open_connections:
            connection.end_with_next()
        ends_at = asyncio.get_running_loop().time() + DRAIN_SECONDS
        while any(one.is_idle for one in open_connections) and not self.force_exit:
            if asyncio.get_running_loop().time() >= ends_at:
                return
            await asyncio.sleep(0.05)  # uvicorn has no event for the last connection's end either


class ServerOfTwoPorts(StoppingServer):
    """Also serves the private port once the application is up."""

    def __init__(
        self, config: uvicorn.Config, private: uvicorn.Config, private_sockets: list[socket.socket] | None = None
    ) -> None:
        super().__init__(config)
        self.private, self.private_sockets = uvicorn.Server(private), private_sockets

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.private.config.load()
        self.private.lifespan = self.private.config.lifespan_class(self.private.config)
        await self.private.startup(self.private_sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.private.shutdown(self.private_sockets)
        await super().shutdown(sockets)


def server_config(
    app: FastAPI, admitted: Connections, bounds: HttpBounds | None = None, **options: Any
) -> uvicorn.Config:
    """Returns the uvicorn configuration of every service. `options` are uvicorn's.

    The addresses that FORWARDED_ALLOW_IPS names are proxies: each stands for many clients.
    """
    protocol: Any = functools.partial(
        BoundedHttp, bounds=bounds or HttpBounds(), admitted=admitted, refused=app.state.metrics.refused_connections
    )
    config = uvicorn.Config(
        app, http=protocol, ws="none", log_config=None, access_log=False, server_header=False, **options
    )
    proxies: Any = ProxyHeadersMiddleware(app, config.forwarded_allow_ips).trusted_hosts  # type: ignore[arg-type]  # as above
    admitted.is_shared = proxies.__contains__
    return config


def _held(descriptor: int | None) -> socket.socket | None:
    """Returns the inherited socket; None if the process opens its port itself."""
    return None if descriptor is None else listening_sockets(1, "", 0, descriptor)[0]


def _allow_files(wanted: int) -> None:
    """Raises the soft limit of open files, often 1024, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
