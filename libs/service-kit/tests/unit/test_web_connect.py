"""A client on checked connections reaches what is allowed, whatever a name says in between."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import httpx2
import pytest

from service_kit.web_address import Address, AddressRefused, allowed_addresses
from service_kit.web_connect import CheckedTransport

INSIDE, OUTSIDE = ip_address("10.0.0.7"), ip_address("93.184.215.14")


class Names:
    """A name service that gives one answer after the other."""

    def __init__(self, *answers: Sequence[Address]) -> None:
        self.answers, self.asked = list(answers), 0

    async def __call__(self, host: str, port: int) -> Sequence[Address]:  # noqa: ARG002
        self.asked += 1
        return self.answers.pop(0)


@pytest.mark.parametrize("found", [[INSIDE], [OUTSIDE, INSIDE], [ip_address("::ffff:127.0.0.1")]])
async def test_a_name_that_resolves_to_an_internal_address_is_not_connected(found: list[Address]) -> None:
    names = Names(found)
    async with httpx2.AsyncClient(transport=CheckedTransport(allowed_addresses(""), names)) as client:
        with pytest.raises(AddressRefused) as refused:
            await client.get("http://rebound.example/v1/models")
    assert names.asked == 1
    assert not any(str(address) in str(refused.value) for address in found)


async def test_a_proxy_from_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with httpx2.AsyncClient(transport=CheckedTransport(allowed_addresses(""), Names([INSIDE]))) as client:
        with pytest.raises(AddressRefused):
            await client.get("http://rebound.example/")
