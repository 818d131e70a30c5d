"""A circuit breaker (M. Nygard, Release It!): stops calling what keeps failing, and tries again after a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from inference.errors import CircuitOpen


class CircuitBreaker:
    """Opens after `failures` consecutive failed calls; `reset_seconds` later it lets one call through as a probe.

    For one event loop. `clock` is monotonic, in seconds.
    """

    def __init__(
        self, *, failures: int = 3, reset_seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._reset_seconds = reset_seconds
        self._clock = clock
        self._failed = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        if self._opened_at is None:
            return "closed"
        return "open" if self._clock() - self._opened_at < self._reset_seconds else "half-open"

    @contextmanager
    def call(self, *, failures: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
        """Guards one call. Raises CircuitOpen instead of entering while the circuit is open or being probed.

        Exceptions in `failures` count against the provider. Any other Exception counts as an answer; a cancelled call
        does not count.
        """
        probe = self._admit()
        try:
            yield
        except failures:
            self._fail(probe)
            raise
        except Exception:
            self._succeed()
            raise
        except BaseException:
            if probe:
                self._probing = False
            raise
        self._succeed()

    def answered(self) -> None:
        """Reports, during a long call, that the provider answers: other calls need not wait for its end."""
        if self._opened_at is not None:
            self._succeed()

    def _admit(self) -> bool:
        state = self.state
        if state == "open" or (state == "half-open" and self._probing):
            raise CircuitOpen(self._until())
        self._probing = state == "half-open"
        return self._probing

    def _until(self) -> str:
        left = self._reset_seconds - (self._clock() - (self._opened_at or 0.0))
        return f"it is tried again in {left:.0f} s" if left > 0 else "it is being tried"

    def _fail(self, probe: bool) -> None:
        self._failed += 1
        # A call from before the circuit opened does not keep it open longer.
        if probe or (self._opened_at is None and self._failed >= self._limit):
            self._opened_at = self._clock()
        if probe:
            self._probing = False

    def _succeed(self) -> None:
        self._failed = 0
        self._opened_at = None
        self._probing = False
