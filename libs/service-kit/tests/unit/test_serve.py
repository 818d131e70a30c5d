"""Serving: what a process does once it is up."""

from __future__ import annotations

import asyncio
import gc
import socket

from fastapi import FastAPI

from service_kit.connections import Connections
from service_kit.serve import StoppingServer, server_config
from service_kit.telemetry import Metrics


async def test_a_full_collection_does_not_read_again_what_the_start_made() -> None:
    app = FastAPI()
    app.state.metrics = Metrics("test")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = StoppingServer(server_config(app, Connections(10), lifespan="off"))
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        try:
            await server.startup([listening])
            assert gc.get_freeze_count() > 0
        finally:
            gc.unfreeze()
            for one in server.servers:
                one.close()
            await asyncio.sleep(0)
