"""Runs an application under uvicorn."""

from __future__ import annotations

from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from service_kit.settings import ServiceSettings
from service_kit.telemetry import configure_telemetry

GRACEFUL_SECONDS = 10


def serve(name: str, settings: ServiceSettings, build: Callable[[], FastAPI]) -> None:
    """Serves until SIGTERM or SIGINT; open requests then have ten seconds to finish."""
    configure_telemetry(name, settings.log_level, settings.otel_exporter_otlp_endpoint)
    uvicorn.run(
        build(),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
