"""A host name is resolved once, and the connection goes to the checked address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address

import httpcore2
import pytest

from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import ItemRefused
from ingestion.sources.web.client import WebClient
from ingestion.sources.web.errors import PageAway
from service_kit.web_address import Address, AddressRefused, allowed_addresses
from service_kit.web_connect import CheckedBackend

LOOPBACK = ip_address("127.0.0.1")


class Names:
    """A resolver that returns one list of addresses after the other, and repeats the last."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = [[ip_address(one) for one in answer] for answer in answers]
        self.asked: list[str] = []

    async def __call__(self, host: str, _port: int) -> Sequence[Address]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class RecordingNetwork(httpcore2.AnyIOBackend):
    """Records where a connection would have gone."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    async def connect_tcp(self, host: str, *_: object, **__: object) -> httpcore2.AsyncNetworkStream:
        self.hosts.append(host)
        raise httpcore2.ConnectError("not connected in this test")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server on 127.0.0.1 that redirects /away to itself by IP address and answers other paths."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).split()[1]
        status = b"302 Found\r\nLocation: http://127.0.0.1:%d/secret" % number if request == b"/away" else b"200 OK"
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    number = server.sockets[0].getsockname()[1]
    async with server:
        yield number


async def anywhere(_url: str) -> None: ...


async def body(client: WebClient, url: str) -> bytes:
    async with client.get(url, anywhere, lambda _: {}) as answer:
        return b"".join([piece async for piece in answer.body])


async def test_the_connection_uses_the_address_that_was_checked() -> None:
    names = Names(["93.184.215.14", "2606:4700::1"], ["127.0.0.1"])
    backend = CheckedBackend(allowed_addresses(""), names)
    backend.network = network = RecordingNetwork()
    with pytest.raises(httpcore2.ConnectError):
        await backend.connect_tcp("rebinding.example", 80)
    assert network.hosts == ["93.184.215.14", "2606:4700::1"]
    assert names.asked == ["rebinding.example"]
    with pytest.raises(AddressRefused):
        await backend.connect_tcp("rebinding.example", 80)
    assert len(network.hosts) == 2


async def test_one_internal_address_in_the_dns_answer_refuses_all() -> None:
    backend = CheckedBackend(allowed_addresses(""), Names(["93.184.215.14", "::ffff:10.0.0.1"]))
    backend.network = network = RecordingNetwork()
    with pytest.raises(AddressRefused):
        await backend.connect_tcp("mixed.example", 80)
    assert network.hosts == []


async def test_a_redirect_to_an_internal_address_is_refused(port: int) -> None:
    # Only the name is allowed, not the address to which it redirects.
    settings = SourceSettings(web_allowed_networks="site.example")
    client = WebClient(settings, Names(["127.0.0.1"]))
    assert await body(client, f"http://site.example:{port}/") == b"hello"
    with pytest.raises(ItemRefused, match="not a public address") as refused:
        await body(client, f"http://site.example:{port}/away")
    assert refused.value.slug == "web-address"
    await client.aclose()


async def test_an_unresolvable_name_does_not_count_as_a_missing_page() -> None:
    async def unresolved(_host: str, _port: int) -> Sequence[Address]:
        raise OSError("Name or service not known")

    client = WebClient(SourceSettings(), unresolved)
    with pytest.raises(PageAway, match=r"nowhere\.example is not resolved"):
        await body(client, "http://nowhere.example/")


async def test_a_proxy_from_the_environment_is_not_used(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    client = WebClient(SourceSettings(web_allowed_networks="127.0.0.0/8"))
    assert await body(client, f"http://127.0.0.1:{port}/") == b"hello"
    await client.aclose()


async def test_a_configured_proxy_gets_credentials_and_no_literal_internal_address(port: int) -> None:
    settings = SourceSettings(web_proxy=f"http://user:p%40ss@127.0.0.1:{port}")
    client = WebClient(settings, Names(["10.0.0.1"]))
    assert await body(client, "http://somewhere.example/") == b"hello"
    with pytest.raises(ItemRefused):
        await body(client, "http://169.254.169.254/")
    await client.aclose()
