"""Requests to another service: what is read, what is tried again, and what is said of a failure."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import httpx2
import pytest
from deployment_keys import DeploymentKeys
from pydantic import BaseModel

from contracts.gateway import Role
from service_kit.auth import Principal, ServiceCaller
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

KEYS = DeploymentKeys()
CALLER = ServiceCaller("ingestion", uuid4())
Handler = Callable[[httpx2.Request], httpx2.Response]


class Greeting(BaseModel):
    name: str
    title: str | None = None


def service(handler: Handler, base_url: str | None = "http://other/") -> HttpService:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    return HttpService("retrieval", client, KEYS.tokens("ingestion"), base_url, 1.0)


async def test_a_successful_response_is_parsed():
    def answer(request: httpx2.Request) -> httpx2.Response:
        assert (str(request.url), request.content) == ("http://other/v1/greet", b'{"name":"Ada"}')
        assert request.headers["authorization"].startswith("Bearer ")
        return httpx2.Response(200, json={"name": "Hello Ada"})

    assert (
        await service(answer).fetch(CALLER, "POST", "/v1/greet", Greeting, Greeting(name="Ada"))
    ).name == "Hello Ada"


async def test_a_failed_connection_is_retried():
    attempts: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        attempts.append(request)
        if len(attempts) < 3:
            raise httpx2.RemoteProtocolError("the server went away")
        return httpx2.Response(200, json={"name": "there"})

    assert (await service(answer).fetch(CALLER, "GET", "/v1/greet", Greeting)).name == "there"


@pytest.mark.parametrize(
    ("handler", "base_url", "detail"),
    [
        (lambda _: httpx2.Response(503), "http://other", "retrieval answered with status 503"),
        (lambda _: httpx2.Response(404), "http://other", "retrieval answered with status 404"),
        (lambda _: httpx2.Response(200, text="[]"), "http://other", "retrieval gave an answer that cannot be read"),
        (None, None, "this deployment has no retrieval"),
    ],
    ids=["failure", "error", "unreadable", "absent"],
)
async def test_an_error_response_is_reported_with_the_service(
    handler: Handler, base_url: str | None, detail: str
) -> None:
    with pytest.raises(ServiceSilent, match=detail):
        await service(handler, base_url).fetch(CALLER, "GET", "/v1/greet", Greeting)


async def test_a_timeout_is_reported_with_the_service():
    def late(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("late")

    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with pytest.raises(ServiceSilent, match="retrieval did not answer within 1 s"):
        await service(late).ask(CALLER, "GET", "/")
    with pytest.raises(ServiceSilent, match=r"retrieval cannot be reached \(ConnectError\)"):
        await service(gone).ask(CALLER, "GET", "/")


async def test_no_request_is_sent_without_a_delegation_by_the_gateway():
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise AssertionError("it was asked")

    user = Principal(uuid4(), uuid4(), Role.owner)
    with pytest.raises(ServiceSilent, match="retrieval cannot be called: the request carries no delegation"):
        await service(answer).ask(user, "GET", "/")
