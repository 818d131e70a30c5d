"""Requests to a service with several replicas: who gets them, and what happens when one goes away."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address

import httpx2
import pytest

from service_kit import replicas
from service_kit.replicas import ReplicaTransport
from service_kit.web_address import Address

ONE, OTHER = "127.0.0.1", "127.0.0.2"
BREAKS = httpx2.RemoteProtocolError("the server went away")
REFUSES = httpx2.ConnectError("refused")


class Network(httpx2.AsyncBaseTransport):
    """Addresses behind the name `retrieval`; `failing` ones raise, `asked` are the requests that arrived."""

    def __init__(self) -> None:
        self.addresses, self.lookups = [ONE, OTHER], 0
        self.asked: list[httpx2.Request] = []
        self.failing: dict[str, Exception] = {}

    @property
    def shares(self) -> Counter[str]:
        return Counter(request.url.host for request in self.asked)

    async def resolve(self, host: str, _port: int) -> Sequence[Address]:
        self.lookups += 1
        if host != "retrieval" or not self.addresses:
            raise OSError("no such name")
        return [ip_address(address) for address in self.addresses]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if failure := self.failing.get(request.url.host):
            raise failure
        return httpx2.Response(200, text=request.url.host)


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def client(network: Network) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=ReplicaTransport(network, network.resolve), base_url="http://retrieval:8000")


async def test_requests_are_shared_evenly(client: httpx2.AsyncClient, network: Network) -> None:
    for _ in range(10):
        await client.get("/v1/search")
    assert network.shares == {ONE: 5, OTHER: 5}
    assert network.lookups == 1
    assert {request.headers["host"] for request in network.asked} == {"retrieval:8000"}


async def test_one_that_is_late_is_passed_over_but_its_request_is_not_repeated(
    client: httpx2.AsyncClient, network: Network
) -> None:
    network.failing[ONE] = httpx2.ReadTimeout("late")
    with pytest.raises(httpx2.ReadTimeout):
        await client.get("/")
    assert [(await client.get("/")).text for _ in range(3)] == [OTHER] * 3


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_one_that_refuses_is_passed_over(client: httpx2.AsyncClient, network: Network, method: str) -> None:
    network.failing[ONE] = REFUSES
    for _ in range(6):
        assert (await client.request(method, "/")).text == OTHER
    assert network.shares == {ONE: 1, OTHER: 6}


async def test_one_that_is_back_gets_requests_again(
    client: httpx2.AsyncClient, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "PASS_OVER_SECONDS", 0.0)
    network.failing[ONE] = REFUSES
    await client.get("/")
    network.failing.clear()
    assert {(await client.get("/")).text for _ in range(2)} == {ONE, OTHER}


async def test_if_all_refuse_the_caller_is_told(client: httpx2.AsyncClient, network: Network) -> None:
    network.failing = {ONE: REFUSES, OTHER: REFUSES}
    with pytest.raises(httpx2.ConnectError):
        await client.get("/")
    assert network.shares == {ONE: 1, OTHER: 1}
    network.failing.clear()
    assert (await client.get("/")).is_success


async def test_what_is_safe_is_repeated_elsewhere_if_a_replica_dies(
    client: httpx2.AsyncClient, network: Network
) -> None:
    network.failing[ONE] = BREAKS
    assert (await client.get("/")).text == OTHER
    assert (await client.get("/")).text == OTHER


async def test_a_change_is_not_repeated_unless_its_sender_says_that_it_may_be(
    client: httpx2.AsyncClient, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "PASS_OVER_SECONDS", 0.0)
    network.failing = {ONE: BREAKS, OTHER: BREAKS}
    with pytest.raises(httpx2.RemoteProtocolError):
        await client.post("/v1/sessions", json={})
    assert len(network.asked) == 1
    del network.failing[OTHER]
    for _ in range(2):
        answer = await client.post("/v1/search", json={"query": "x"}, extensions={"repeatable": True})
        assert (answer.text, network.asked[-1].headers["content-length"]) == (OTHER, "13")


async def test_new_replicas_are_found_and_old_ones_forgotten(
    client: httpx2.AsyncClient, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "LOOK_UP_SECONDS", -1.0)
    await client.get("/")
    network.addresses = ["127.0.0.3"]
    await client.get("/")
    await asyncio.sleep(0)
    assert (await client.get("/")).text == "127.0.0.3"


async def test_while_the_name_cannot_be_looked_up_known_replicas_are_used(
    client: httpx2.AsyncClient, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "LOOK_UP_SECONDS", -1.0)
    assert (await client.get("/")).is_success
    network.addresses = []
    for _ in range(3):
        assert (await client.get("/")).is_success
        await asyncio.sleep(0)
    assert network.lookups > 1


async def test_a_name_without_addresses_is_reported_and_looked_up_again(
    client: httpx2.AsyncClient, network: Network
) -> None:
    network.addresses = []
    with pytest.raises(httpx2.ConnectError, match="retrieval has no address"):
        await client.get("/")
    network.addresses = [ONE]
    assert (await client.get("/")).text == ONE


async def test_an_address_is_called_as_it_is(client: httpx2.AsyncClient, network: Network) -> None:
    network.failing["127.0.0.9"] = BREAKS
    with pytest.raises(httpx2.RemoteProtocolError):
        await client.get("http://127.0.0.9:1/")
    assert network.lookups == 0
