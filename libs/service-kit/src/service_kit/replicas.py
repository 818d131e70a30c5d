"""Shares requests among the replicas of a service, which are all addresses of its name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httpx2

from service_kit.web_address import literal_address
from service_kit.web_connect import Resolve, resolve

LOOK_UP_SECONDS = 3.0  # how long the addresses of a name are used before they are looked up again
PASS_OVER_SECONDS = 3.0
CONNECT_SECONDS = 1.0  # while there is another address: a machine that is gone does not even refuse
REPEATABLE = "repeatable"
READING = ("GET", "HEAD", "OPTIONS")
REFUSED = (httpx2.ConnectError, httpx2.ConnectTimeout)
BROKEN_OFF = (httpx2.NetworkError, httpx2.RemoteProtocolError, httpx2.ReadTimeout, httpx2.WriteTimeout)


class ReplicaTransport(httpx2.AsyncBaseTransport):
    """Sends each request to the address that was used longest ago; `inner` makes the connections.

    Names are looked up again every few seconds. An address that refuses, breaks off or is late is passed over for as
    long. The request goes to the next one if it was refused, or if it broke off before its response began and is safe
    to repeat: with the methods `READING`, or whatever the extension `repeatable` says.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, resolve: Resolve = resolve) -> None:
        self.inner, self.resolve = inner, resolve
        self.names: dict[tuple[str, int], _Name] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        if literal_address(host) is not None:
            return await self.inner.handle_async_request(request)
        name = self.names.setdefault((host, port), _Name())
        await self._look_up(host, port, name)
        repeatable = request.extensions.get(REPEATABLE, request.method in READING)
        failure: httpx2.TransportError = httpx2.ConnectError(f"{host} has no address")
        left = list(name.addresses)
        while left:
            address = name.next(left)
            left.remove(address)
            try:
                return await self.inner.handle_async_request(_to(address, request, is_last=not left))
            except REFUSED as error:
                failure = error
            except BROKEN_OFF as error:
                failure = error
                if isinstance(error, httpx2.TimeoutException) or not repeatable:
                    left.clear()
            name.passed_over[address] = _now() + PASS_OVER_SECONDS
        raise failure

    async def aclose(self) -> None:
        for name in self.names.values():
            if name.looking is not None:
                name.looking.cancel()
        await self.inner.aclose()

    async def _look_up(self, host: str, port: int, name: _Name) -> None:
        """Looks the name up if its addresses are old; waits for the outcome only if there are none."""
        if name.looking is None and _now() >= name.old_at:
            name.looking = asyncio.create_task(self._find(host, port, name))
        if name.looking is not None and not name.addresses:
            await asyncio.shield(name.looking)

    async def _find(self, host: str, port: int, name: _Name) -> None:
        try:
            name.addresses = [str(address) for address in await self.resolve(host, port)]
            name.old_at = _now() + LOOK_UP_SECONDS
        except OSError:  # those known so far remain in use
            name.old_at = _now() + (LOOK_UP_SECONDS if name.addresses else 0.0)
        finally:
            name.looking = None


@dataclass
class _Name:
    """The addresses of a host, with the number of the request that each had last, and until when it is passed over."""

    addresses: list[str] = field(default_factory=list)
    old_at: float = 0.0
    looking: asyncio.Task[None] | None = None
    requests: int = 0
    last: dict[str, int] = field(default_factory=dict)
    passed_over: dict[str, float] = field(default_factory=dict)

    def next(self, addresses: list[str]) -> str:
        """Returns the address that was used longest ago; one that is passed over only if all are."""
        now = _now()
        chosen = min(addresses, key=lambda one: (self.passed_over.get(one, 0.0) > now, self.last.get(one, 0)))
        self.requests += 1
        self.last[chosen] = self.requests
        return chosen


def _to(address: str, request: httpx2.Request, is_last: bool) -> httpx2.Request:
    """Returns the request for one address; its certificate is still checked for the name."""
    extensions = {**request.extensions, "sni_hostname": request.url.host}
    if not is_last:
        timeouts = request.extensions.get("timeout", {})
        connect = timeouts.get("connect") or CONNECT_SECONDS
        extensions["timeout"] = {**timeouts, "connect": min(connect, CONNECT_SECONDS)}
    url = request.url.copy_with(host=address)
    return httpx2.Request(request.method, url, headers=request.headers, stream=request.stream, extensions=extensions)


def _now() -> float:
    return asyncio.get_running_loop().time()
