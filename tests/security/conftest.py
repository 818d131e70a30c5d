"""One embedded stack for the security tests of a process, ended with them; who needs other settings starts another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial

import httpx2
import pytest
from api_calls import Tenant, client, new_tenant
from otlp_receiver import OtlpReceiver
from stack import PATIENT, EmbeddedStack

from service_kit import optional_redis


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine stalls, Redis would be taken to be away, and a gateway in process would count a second time."""
    monkeypatch.setattr(optional_redis, "ANSWER_SECONDS", 60.0)


@pytest.fixture(scope="package")
def receiver() -> Iterator[OtlpReceiver]:
    """Where the stack sends its traces."""
    with OtlpReceiver.started() as receiving:
        yield receiving


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory, receiver: OtlpReceiver) -> Iterator[EmbeddedStack]:
    settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "100000"}
    settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url
    with EmbeddedStack.started(tmp_path_factory.mktemp("security"), **settings) as running:
        yield running


@pytest.fixture(scope="package")
async def admin(stack: EmbeddedStack) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(stack.url, stack.api_key) as http:
        yield http


@pytest.fixture(scope="package")
def make_tenant(
    stack: EmbeddedStack, admin: httpx2.AsyncClient
) -> Callable[[str], AbstractAsyncContextManager[Tenant]]:
    """`async with make_tenant("name") as tenant`: a new workspace with its own user and that owner's key."""
    return partial(new_tenant, stack.url, admin)
