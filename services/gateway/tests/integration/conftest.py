"""The gateway as it runs: under uvicorn, on real engines, in front of a real service."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from held_port import held_port
from pydantic import SecretStr

from gateway.app import create_app
from gateway.settings import Settings
from service_kit import optional_redis
from service_kit.connections import Connections
from service_kit.http_service import service_client
from service_kit.serve import server_config
from service_kit.telemetry import Metrics

SERVICES = ("ingestion", "retrieval", "knowledge_graph", "memory", "orchestrator")


class QuietServer(uvicorn.Server):
    def capture_signals(self) -> Any:
        return nullcontext()


@asynccontextmanager
async def serve(app: FastAPI, port: int = 0) -> AsyncIterator[str]:
    """The app on the port, or a free one; its URL."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:  # named: so it gets NODELAY
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        app.state.metrics = getattr(app.state, "metrics", None) or Metrics()
        config = server_config(app, Connections(1000), forwarded_allow_ips="", timeout_graceful_shutdown=1)
        server = QuietServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            if serving.done():
                serving.result()
                raise RuntimeError("the application did not start")
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@pytest.fixture(scope="session")
def upstream() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gateway_upstream", Path(__file__).with_name("upstream.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def serve_app():
    return serve


@pytest.fixture
def private_port() -> Iterator[int]:
    with held_port() as port:
        yield port


@pytest.fixture(autouse=True)
def unhurried(monkeypatch) -> None:
    """Where the machine stalls, Redis would be taken to be away, and the gateway would count a second time."""
    monkeypatch.setattr(optional_redis, "ANSWER_SECONDS", 60.0)


@pytest.fixture
def admin_key() -> str:
    return secrets.token_hex(32)


@pytest.fixture
def settings(make_database, own_redis_url, token_keys, admin_key, unused_port) -> Callable[..., Settings]:
    """settings(**changes): on a fresh database; services are at a port where nobody listens."""
    urls = make_database("gateway")
    away = f"http://127.0.0.1:{unused_port}"

    def make(**changes: Any) -> Settings:
        values = {f"{name}_url": away for name in SERVICES} | {
            "database_url": urls.service,
            "redis_url": own_redis_url("gateway"),
            **token_keys.settings("gateway"),
            "admin_api_key": admin_key,
        }
        return Settings(**(values | changes))

    return make


@pytest.fixture
def apps() -> list[FastAPI]:
    """The gateways of this test, in the order of their start."""
    return []


@pytest.fixture
def private(apps) -> Callable[..., Awaitable[httpx2.Response]]:
    """`await private(path)`: what the last gateway answers on its private port."""

    async def get(path: str, **more: Any) -> httpx2.Response:
        transport = httpx2.ASGITransport(apps[-1].state.private)
        async with httpx2.AsyncClient(transport=transport, base_url="http://private") as client:
            return await client.get(path, **more)

    return get


@pytest.fixture
def gateway_client(settings, admin_key, apps) -> Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]:
    """`async with gateway_client(**settings) as client`: the gateway under uvicorn; the client is an administrator."""

    @asynccontextmanager
    async def opened(**changes: Any) -> AsyncIterator[httpx2.AsyncClient]:
        headers = {"Authorization": f"Bearer {admin_key}"}
        apps.append(create_app(settings(**changes)))
        async with (
            serve(apps[-1]) as url,
            service_client(base_url=url, headers=headers, timeout=120) as client,
        ):
            yield client

    return opened


@pytest.fixture
def seen(upstream):
    return upstream.Seen()


@pytest.fixture
async def proxied_client(upstream, seen, gateway_client):
    """proxied_client(**settings): as `gateway_client`, with a service that answers for all five."""

    @asynccontextmanager
    async def opened(**changes: Any) -> AsyncIterator[httpx2.AsyncClient]:
        async with (
            serve(upstream.service(seen)) as url,
            gateway_client(**({f"{name}_url": url for name in SERVICES} | changes)) as client,
        ):
            yield client

    return opened


@pytest.fixture
def process(upstream, seen, settings, admin_key, unused_port, private_port):
    """`async with process(**settings) as (client, pid)`: the gateway as operators start it, in front of the service.

    It trusts no proxy, so that limits by address count for this machine.
    """

    @asynccontextmanager
    async def start(**changes: Any) -> AsyncIterator[tuple[httpx2.AsyncClient, int]]:
        async with serve(upstream.service(seen)) as url:
            chosen = settings(**{f"{name}_url": url for name in SERVICES}, **changes)
            environment = {name.upper(): _plain(value) for name, value in chosen if value not in (None, [])}
            environment |= {"PORT": str(unused_port), "PRIVATE_PORT": str(private_port), "PATH": os.environ["PATH"]}
            environment["FORWARDED_ALLOW_IPS"] = "none"
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "gateway", "serve", env=environment, stdout=asyncio.subprocess.DEVNULL
            )
            headers = {"Authorization": f"Bearer {admin_key}"}
            base_url = f"http://127.0.0.1:{unused_port}"
            try:
                async with service_client(base_url=base_url, headers=headers, timeout=120) as client:
                    await _started(client, child)
                    yield client, child.pid
            finally:
                child.terminate()
                assert await child.wait() in (0, -15)

    return start


async def _started(client: httpx2.AsyncClient, child: asyncio.subprocess.Process) -> None:
    while True:
        try:
            await client.get("/livez")
        except httpx2.ConnectError:
            assert child.returncode is None
            await asyncio.sleep(0.05)  # another process's port has no event
        else:
            return


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
