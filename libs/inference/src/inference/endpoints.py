"""The chat model endpoints that a process uses: one client, one breaker and the learned refusals for each."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from httpx2 import AsyncBaseTransport

from inference.breaker import CircuitBreaker
from inference.capabilities import Capabilities, ReportedCapabilities
from inference.errors import ProviderUnavailable, UnreadableReply
from inference.provider import Provider, Timeouts
from inference.refusals import Refusals

IDLE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """The address and the key of an endpoint. `is_guarded`: a user named it, not the operator."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    is_guarded: bool = False


class Endpoint:
    """One endpoint with one key; all models that it serves share its breaker."""

    def __init__(self, provider: Provider, breaker: CircuitBreaker | None = None) -> None:
        """Owns `provider`."""
        self.provider = provider
        self.breaker = breaker or CircuitBreaker()
        self.told = ReportedCapabilities(provider)
        self._refusals: dict[str, Refusals] = {}

    def refusals(self, model: str) -> Refusals:
        """Returns what was learned of a model, shared by all its callers in this process."""
        return self._refusals.setdefault(model, Refusals())

    async def capabilities(self, model: str) -> Capabilities:
        """Returns what the endpoint reports of a model, corrected by its refusals. Raises nothing."""
        return (await self.told.of(model)).with_learned(self.refusals(model))

    async def list_models(self) -> list[str]:
        """Returns the names of the provider's models. Raises ProviderError."""
        with self.breaker.call(failures=ProviderUnavailable):
            reply = await self.provider.get("/models")
        try:
            return [str(item["id"]) for item in reply["data"]]
        except (KeyError, TypeError):
            raise UnreadableReply("no list of models") from None

    async def aclose(self) -> None:
        await self.provider.aclose()


@dataclass(slots=True)
class _Held:
    endpoint: Endpoint
    users: int = 0
    unused_since: float = 0.0


class Endpoints:
    """Opens each endpoint at its first use and closes it after `idle_seconds` without use. For one event loop."""

    def __init__(
        self,
        *,
        failures: int = 3,
        reset_seconds: float = 60.0,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        guarded: Callable[[], AsyncBaseTransport] | None = None,
    ) -> None:
        """`guarded` opens connections to addresses that users name; without it these are not available."""
        self._failures, self._reset_seconds = failures, reset_seconds
        self._idle_seconds, self._clock = idle_seconds, clock
        self._guarded = guarded
        self._held: dict[EndpointAddress, _Held] = {}

    @asynccontextmanager
    async def using(self, address: EndpointAddress) -> AsyncIterator[Endpoint]:
        """Yields the endpoint, which stays open at least until the block ends. Raises InvalidApiKey."""
        await self._close_unused()
        held = self._held.get(address)
        if held is None:
            held = self._held[address] = _Held(self._opened(address))
        held.users += 1
        try:
            yield held.endpoint
        finally:
            held.users -= 1
            held.unused_since = self._clock()

    def state(self, address: EndpointAddress) -> Literal["closed", "open", "half-open"]:
        """Returns the state of the endpoint's breaker; `closed` for an endpoint that has not been opened."""
        held = self._held.get(address)
        return "closed" if held is None else held.endpoint.breaker.state

    def __len__(self) -> int:
        return len(self._held)

    async def aclose(self) -> None:
        held, self._held = list(self._held.values()), {}
        for one in held:
            await one.endpoint.aclose()

    def _opened(self, address: EndpointAddress) -> Endpoint:
        transport = None
        if address.is_guarded:
            assert self._guarded is not None, "an address that a user named needs a guard"
            transport = self._guarded()
        provider = Provider(address.base_url, address.api_key, address.timeouts, transport)
        return Endpoint(provider, CircuitBreaker(failures=self._failures, reset_seconds=self._reset_seconds))

    async def _close_unused(self) -> None:
        """Closes unused endpoints, except those whose breaker is open, since its state would be lost."""
        before = self._clock() - self._idle_seconds
        for address, held in list(self._held.items()):
            if held.users == 0 and held.unused_since < before and held.endpoint.breaker.state == "closed":
                del self._held[address]
                await held.endpoint.aclose()
