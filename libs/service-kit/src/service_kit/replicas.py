"""Shares requests among the replicas of a service, which are all addresses of its name."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import httpx2

from service_kit.web_address import literal_address
from service_kit.web_connect import Resolve, resolve

LOOK_UP_SECONDS = 3.0  # how long the addresses of a name are used before they are looked up again
PASS_OVER_SECONDS = 3.0
CONNECT_SECONDS = 1.0  # while there is another address: a machine that is gone does not even refuse
REPEATABLE = "repeatable"
READING = ("GET", "HEAD", "OPTIONS")


class ReplicaTransport(httpx2.AsyncBaseTransport):
    """Sends each request to the address with the fewest requests in progress; `inner` makes the connections.

    Names are looked up again every few seconds. An address that refuses is passed over for as long, and the request
    goes to the next one. A request that broke off before its response began is sent to the next one only if it is safe
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
            address = name.best(left)
            left.remove(address)
            try:
                return await self._send(request, name, address, is_last=not left)
            except (httpx2.NetworkError, httpx2.RemoteProtocolError, httpx2.ConnectTimeout) as error:
                failure = error
            name.passed_over[address] = _now() + PASS_OVER_SECONDS
            if not repeatable and not isinstance(failure, httpx2.ConnectError | httpx2.ConnectTimeout):
                break
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

    async def _send(self, request: httpx2.Request, name: _Name, address: str, is_last: bool) -> httpx2.Response:
        extensions = {**request.extensions, "sni_hostname": request.url.host}
        timeouts = request.extensions.get("timeout", {})
        if not is_last:
            connect = timeouts.get("connect")
            extensions["timeout"] = {**timeouts, "connect": min(connect or CONNECT_SECONDS, CONNECT_SECONDS)}
        url = request.url.copy_with(host=address)
        sent = httpx2.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
        )
        name.in_progress[address] += 1
        try:
            response = await self.inner.handle_async_request(sent)
        except BaseException:
            name.in_progress[address] -= 1
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _CountedStream(response.stream, lambda: name.in_progress.subtract([address]))
        return response


@dataclass
class _Name:
    """The addresses of a host: by address, the requests in progress, when it was last used, until when to pass over."""

    addresses: list[str] = field(default_factory=list)
    old_at: float = 0.0
    looking: asyncio.Task[None] | None = None
    in_progress: Counter[str] = field(default_factory=Counter)
    used: dict[str, int] = field(default_factory=dict)
    passed_over: dict[str, float] = field(default_factory=dict)
    requests: int = 0

    def best(self, addresses: list[str]) -> str:
        """Returns the least busy address, of several the one used longest ago; one passed over only if all are."""
        now = _now()
        best = min(
            addresses,
            key=lambda one: (self.passed_over.get(one, 0.0) > now, self.in_progress[one], self.used.get(one, 0)),
        )
        self.requests += 1
        self.used[best] = self.requests
        return best


class _CountedStream(httpx2.AsyncByteStream):
    """Calls `ended` once, when the response is closed."""

    def __init__(self, inner: httpx2.AsyncByteStream, ended: Callable[[], None]) -> None:
        self.inner, self.ended = inner, ended
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.inner:
            yield piece

    async def aclose(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.ended()
        await self.inner.aclose()


def _now() -> float:
    return asyncio.get_running_loop().time()
