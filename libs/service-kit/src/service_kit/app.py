"""Builds what all services' applications share: telemetry, problems, health, tokens. Their app.py adds the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import APIRouter, FastAPI

from service_kit import health, problem_handlers
from service_kit.routes import add_routes
from service_kit.settings import ServiceSettings
from service_kit.telemetry import Metrics, RequestTelemetry
from service_kit.tokens import Tokens
from service_kit.version import VERSION

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def service_app(
    name: str,
    settings: ServiceSettings,
    routers: list[APIRouter],
    lifespan: Lifespan,
    openapi_url: str | None = "/openapi.json",
) -> FastAPI:
    """Returns an application with `state.metrics`, `state.health` and `state.tokens` for the lifespan to use.

    Functions that the lifespan adds to `state.on_stop` are called as soon as the process is asked to stop.

    With a private port, `state.private` is the application served there.
    """
    app = FastAPI(
        title=f"Attractor {name}",
        version=VERSION,
        lifespan=lifespan,
        openapi_url=openapi_url,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        telemetry={"tracing": False, "metrics": False},  # RequestTelemetry does both
    )
    app.state.metrics = Metrics(name.replace("-", "_"))
    app.state.on_stop = []
    app.state.health = health.Health()
    app.state.tokens = Tokens(name, settings)
    problem_handlers.install(app)
    app.add_middleware(RequestTelemetry, metrics=app.state.metrics)
    add_routes(app, health.alive())
    if settings.private_port is None:
        add_routes(app, health.inside(app.state.health, app.state.metrics))
    else:
        app.state.private = health.private_app(app.state.health, app.state.metrics)
    for router in routers:
        add_routes(app, router)
    return app
