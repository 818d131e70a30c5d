"""A small service process: python small_replica.py HOST PORT. It answers GET and POST / after a moment."""

from __future__ import annotations

import asyncio
import sys

from fastapi import FastAPI

from service_kit.connections import Connections
from service_kit.health import Health
from service_kit.serve import StoppingServer, server_config
from service_kit.telemetry import Metrics


def main(host: str, port: int) -> None:
    app = FastAPI(openapi_url=None)
    app.state.metrics, app.state.health, app.state.on_stop = Metrics(), Health(), []

    @app.api_route("/", methods=["GET", "POST"])
    async def answer() -> str:
        await asyncio.sleep(0.01)
        return host

    options = {"host": host, "port": port, "forwarded_allow_ips": "", "timeout_graceful_shutdown": 10}
    StoppingServer(server_config(app, Connections(100), **options)).run()  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
