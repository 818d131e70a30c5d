"""The provider `oidc-provider` from npm, and a gateway that knows it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openid_calls import CALLBACK, CLIENT, OTHER_CLIENT, SECRET, jwk
from sign_in_calls import HOME, LoneGateway, lone_gateway

FOLDER = Path(__file__).with_name("provider")
INSTALL_SECONDS = 60


@pytest.fixture(scope="package")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Runs the provider on a free port; yields its issuer."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs node and npm, to run a real OpenID Connect provider")
    folder = shutil.copytree(FOLDER, tmp_path_factory.mktemp("provider") / "app")
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the package oidc-provider cannot be had: {str(error.stderr or error)[-300:]}")
    clients = [
        {"client_id": name, "client_secret": SECRET, "redirect_uris": [CALLBACK], "response_types": ["code"]}
        for name in (CLIENT, OTHER_CLIENT)
    ]
    (folder / "configuration.json").write_text(json.dumps({"keys": [jwk()], "clients": clients}), encoding="utf-8")
    with open(folder / "provider.log", "wb") as log:
        process = subprocess.Popen(
            ["node", "provider.mjs", "configuration.json"], cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdout is not None
    try:
        told = process.stdout.readline().strip()
        assert told.startswith("http://127.0.0.1:"), (folder / "provider.log").read_text(encoding="utf-8")
        yield told
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture
def make_gateway(make_database, redis_url, token_keys, issuer) -> Callable[..., Any]:
    database = make_database("gateway")
    settings = {
        "public_url": HOME,
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "oidc_allowed_domains": ["example.org"],
    }
    return lambda **changes: lone_gateway(database, redis_url, token_keys, **(settings | changes))


@pytest.fixture
async def gateway(make_gateway) -> AsyncIterator[LoneGateway]:
    async with make_gateway() as opened:
        yield opened
