"""Decides whether and when a request to a provider is retried."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from inference.errors import ProviderSilent, ProviderUnavailable, StreamCut

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Allows `attempts` attempts. Waits double from `first_seconds` up to `longest_seconds`, with jitter.

    A `Retry-After` replaces a shorter wait; one beyond `longest_seconds` ends the attempts at once. A provider that
    times out gets one attempt fewer, since each takes as long as the timeout.
    """

    attempts: int = 3
    first_seconds: float = 0.5
    longest_seconds: float = 20.0

    async def run(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Returns the result of `attempt`, repeated on ProviderUnavailable and StreamCut. Raises the last error."""
        backoff = wait_exponential(self.first_seconds, self.longest_seconds) + wait_random(0, self.first_seconds)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            retry_after = error.retry_after if isinstance(error, ProviderUnavailable) else None
            return max(backoff(state), retry_after or 0.0)

        retrying = AsyncRetrying(stop=self._stops, wait=wait, retry=retry_if_exception(self._worth), reraise=True)

        async def once() -> T:
            return await attempt()

        return await retrying(once)

    def _stops(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        return state.attempt_number >= max(1, self.attempts - isinstance(error, ProviderSilent))

    def _worth(self, error: BaseException) -> bool:
        if isinstance(error, ProviderUnavailable):
            return error.retry_after is None or error.retry_after <= self.longest_seconds
        return isinstance(error, StreamCut)
