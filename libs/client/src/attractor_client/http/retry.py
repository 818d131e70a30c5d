"""Decides when a call is retried, and after which delay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from attractor_client.errors import AttractorError, RateLimited, Unavailable, Unreachable

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with jitter, times in seconds. A Retry-After longer than `patience` is not waited for, and
    nothing is tried again once `patience` has passed.

    429 and failed connection attempts are retried for every call; broken connections, timeouts, 502, 503 and 504 only
    for calls that can safely be repeated.
    """

    attempts: int = 5
    first: float = 0.25
    longest: float = 10.0
    patience: float = 60.0

    async def run(self, attempt: Callable[[], Awaitable[T]], *, repeatable: bool) -> T:
        """Returns the first result of `attempt`; raises the last error."""

        async def once() -> T:
            return await attempt()

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts) | stop_after_delay(self.patience),
            wait=self.wait,
            retry=retry_if_exception(lambda error: self.worth(error, repeatable)),
            reraise=True,
        )
        return await retrying(once)

    def wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        retry_after = error.retry_after if isinstance(error, AttractorError) else None
        backoff = wait_random_exponential(multiplier=self.first, max=self.longest)(state)
        return max(backoff, retry_after or 0.0)

    def worth(self, error: BaseException, repeatable: bool) -> bool:
        match error:
            case RateLimited() | Unavailable() if (error.retry_after or 0) > self.patience:
                return False
            case RateLimited():
                return True
            case Unreachable():
                return repeatable or not error.sent
            case Unavailable():
                return repeatable
        return False
