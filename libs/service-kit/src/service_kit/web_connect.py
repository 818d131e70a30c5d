"""Connects to checked addresses: a name is resolved once, and the connection is made to an address that was checked."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import ip_address

import httpcore2
import httpx2

from service_kit.web_address import Address, AllowedAddresses, literal_address

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Returns all addresses of a name, in the system's order; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(entry[4][0]) for entry in found))


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to a host's addresses if all of them are allowed; otherwise raises AddressRefused."""

    def __init__(self, allowed: AllowedAddresses, resolve: Resolve) -> None:
        self.allowed, self.resolve = allowed, resolve
        self.network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._addresses(host, port, timeout)
        self.allowed.check(host, port, addresses)
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self.network.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _addresses(self, host: str, port: int, timeout: float | None) -> Sequence[Address]:
        literal = literal_address(host)
        if literal is not None:
            return [literal]
        try:
            return await asyncio.wait_for(self.resolve(host, port), timeout)
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"the name {host} was not resolved in time") from None
        except OSError as error:
            raise httpcore2.ConnectError(f"the name {host} is not resolved") from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class CheckedTransport(httpx2.AsyncHTTPTransport):
    """Lets a client connect only to checked addresses; proxies set in the environment are ignored."""

    def __init__(self, allowed: AllowedAddresses, resolve: Resolve = resolve, *, keepalive: int = 20) -> None:
        super().__init__(trust_env=False)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=None,
            max_keepalive_connections=keepalive,
            keepalive_expiry=15.0,
            network_backend=CheckedBackend(allowed, resolve),
        )
