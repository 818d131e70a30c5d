"""Serving: what a process does once it is up."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys

from fastapi import FastAPI

from service_kit.connections import Connections
from service_kit.serve import StoppingServer, server_config
from service_kit.telemetry import Metrics

FAILING = """
import uvicorn
from contextlib import asynccontextmanager
from fastapi import FastAPI
from service_kit.telemetry import configure_logs

@asynccontextmanager
async def lifespan(app):
    raise RuntimeError("the model is not there")
    yield

configure_logs("retrieval", "INFO")
uvicorn.Server(uvicorn.Config(FastAPI(lifespan=lifespan), port=0, log_config=None)).run()
"""


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


def test_the_last_line_of_the_log_says_why_a_start_failed() -> None:
    ran = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True, timeout=120)
    last = json.loads(ran.stdout.splitlines()[-1])
    assert last["message"] == "RuntimeError: the model is not there"
    assert last["exception"].startswith("Traceback")
