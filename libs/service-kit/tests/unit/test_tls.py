"""HTTPS at a port of our own, for those who have no proxy in front."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import nullcontext
from pathlib import Path

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from pydantic import ValidationError

from service_kit.connections import Connections
from service_kit.serve import server_config
from service_kit.settings import TlsSettings
from service_kit.store_keys import CERTIFICATE, KEY, write_store_keys
from service_kit.telemetry import Metrics


class QuietServer(uvicorn.Server):
    def capture_signals(self):
        return nullcontext()


async def test_a_port_with_a_certificate_accepts_only_https(tmp_path: Path) -> None:
    write_store_keys(tmp_path)  # any certificate for 127.0.0.1
    app = FastAPI()
    app.state.metrics = Metrics()
    app.get("/small")(lambda: {"ok": True})
    tls = TlsSettings(tls_certificate_file=tmp_path / CERTIFICATE, tls_key_file=tmp_path / KEY).tls
    server = QuietServer(server_config(app, Connections(10), host="127.0.0.1", port=0, **tls))
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110  it tells nobody when it has begun
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        trusted = ssl.create_default_context(cafile=str(tmp_path / CERTIFICATE))
        async with httpx2.AsyncClient(verify=trusted, trust_env=False) as client:
            assert (await client.get(f"https://127.0.0.1:{port}/small")).json() == {"ok": True}
            with pytest.raises(httpx2.TransportError):
                await client.get(f"http://127.0.0.1:{port}/small")
    finally:
        server.should_exit = True
        await running


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="Path does not point to a file"):
        TlsSettings(tls_certificate_file=tmp_path / CERTIFICATE, tls_key_file=tmp_path / KEY)
    write_store_keys(tmp_path)
    with pytest.raises(ValidationError, match="set both"):
        TlsSettings(tls_certificate_file=tmp_path / CERTIFICATE)
    assert TlsSettings().tls == {}
