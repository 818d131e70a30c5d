"""A service of several processes, without a database: python small_service.py PORT PROCESSES [DESCRIPTOR].

GET / answers which process it is, GET /until-stopped does so once the process is asked to stop. With NEVER_READY in the
environment, its start does not end.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from deployment_keys import DeploymentKeys
from fastapi import APIRouter, FastAPI

from contracts.registry import MEMORY
from service_kit.app import service_app
from service_kit.serve import serve_app
from service_kit.settings import ServiceSettings
from service_kit.telemetry import configure_logs


def build(settings: ServiceSettings) -> FastAPI:
    router, is_stopping = APIRouter(), asyncio.Event()

    @router.get("/")
    async def own_number() -> int:
        return os.getpid()

    @router.get("/until-stopped")
    async def until_stopped() -> int:
        await is_stopping.wait()
        return os.getpid()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if os.environ.get("NEVER_READY"):
            sys.stdout.write("starting\n")
            sys.stdout.flush()
            await asyncio.Event().wait()
        app.state.on_stop.append(is_stopping.set)
        yield

    return service_app(MEMORY, settings, [router], lifespan)


def main(port: int, processes: int, descriptor: int | None = None) -> None:
    settings = ServiceSettings(
        port=port,
        port_fd=descriptor,
        server_processes=processes,
        database_url="postgresql://localhost:1/none",
        **DeploymentKeys().settings(MEMORY),
    )
    configure_logs(MEMORY, settings.log_level)
    serve_app(MEMORY, settings, lambda: build(settings))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
