"""/livez, /readyz and /metrics. The last two are for operators: they are expensive and reveal internals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from service_kit.problems import Problem
from service_kit.routes import add_routes
from service_kit.telemetry import Metrics
from service_kit.version import VERSION

log = logging.getLogger(__name__)
Check = Callable[[], Awaitable[None]]
Fact = Callable[[], Awaitable[Any]]
TIMEOUT_SECONDS = 3.0


class Health:
    """The checks of a service. A check returns if its part works, and otherwise raises with the reason.

    Reasons are logged. /readyz requires no key: it names an error's class, and shows the text only of a Problem.
    """

    def __init__(self) -> None:
        self.checks: dict[str, Check] = {}
        self.logged: dict[str, str] = {}
        self.optional: set[str] = set()
        self.is_stopping = False
        self._facts: dict[str, Fact] = {}

    def add_fact(self, name: str, fact: Fact) -> None:
        """Adds a fact that /readyz shows next to the checks, as JSON, if it is available."""
        self._facts[name] = fact

    def add(self, name: str, check: Check, required: bool = True) -> None:
        """Adds a check. If it is not required, its failure is shown, but the service stays ready."""
        self.checks[name] = check
        if not required:
            self.optional.add(name)

    def is_ready(self, failures: Mapping[str, str]) -> bool:
        return not self.is_stopping and failures.keys() <= self.optional

    async def failures(self) -> Mapping[str, str]:
        """Returns the failing checks by name, with a public reason. All run at once, each with a deadline."""

        async def outcome(name: str, check: Check) -> tuple[str, str | None]:
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    await check()
            except Exception as error:  # noqa: BLE001  whatever a check raises is the answer
                self._log(name, error)
                return name, str(error)[:300] if isinstance(error, Problem) else type(error).__name__
            self.logged.pop(name, None)
            return name, None

        outcomes = await asyncio.gather(*(outcome(name, check) for name, check in self.checks.items()))
        return {name: reason for name, reason in outcomes if reason is not None}

    async def facts(self) -> Mapping[str, Any]:
        """Returns the facts by name; one that is not available now is left out and the reason logged."""
        found = {}

        async def find(name: str, fact: Fact) -> None:
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    found[name] = await fact()
            except Exception as error:  # noqa: BLE001  it must not make the service unready
                self._log(name, error)
            else:
                self.logged.pop(name, None)

        await asyncio.gather(*(find(name, fact) for name, fact in self._facts.items()))
        return found

    def _log(self, name: str, error: Exception) -> None:
        """Logs each failure once until it changes."""
        reason = f"{type(error).__name__}: {error}"[:300]
        if self.logged.get(name) != reason:
            self.logged[name] = reason
            log.warning("check failed", extra={"check": name, "reason": reason})


def alive() -> APIRouter:
    """Returns /livez, which shows that the process responds."""
    router = APIRouter(include_in_schema=False)

    @router.get("/livez")
    async def livez() -> dict[str, str]:
        return {"status": "alive"}

    return router


def inside(health: Health, metrics: Metrics) -> APIRouter:
    """Returns /readyz and /metrics."""
    router = APIRouter(include_in_schema=False)

    @router.get("/readyz")
    async def readyz() -> Response:
        failures, facts = await asyncio.gather(health.failures(), health.facts())
        ready = health.is_ready(failures)
        status = "not_ready" if not ready else "degraded" if failures else "ready"
        body = {"status": status, "failures": dict(failures), "version": VERSION, **facts}
        return JSONResponse(body, 200 if ready else 503)

    @router.get("/metrics")
    async def prometheus() -> Response:
        return Response(await metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    return router


def private_app(health: Health, metrics: Metrics) -> FastAPI:
    """Returns the application of the private port, for services whose own port is public."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, telemetry={"tracing": False, "metrics": False})
    app.state.metrics = metrics
    add_routes(app, alive())
    add_routes(app, inside(health, metrics))
    return app
