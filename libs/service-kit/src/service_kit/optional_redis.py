"""A Redis that requests can do without: called with a short timeout, and not at all for a while after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import RedisError

from service_kit.tracing import store_call

T = TypeVar("T")
ANSWER_SECONDS = 0.25
PAUSE_SECONDS = 5.0


class RedisUnavailable(Exception):
    """Redis did not answer in time, or failed less than PAUSE_SECONDS ago (then without a cause)."""


class OptionalRedis:
    """Keeps an unresponsive Redis from slowing down every request."""

    def __init__(self) -> None:
        self.paused_until = 0.0

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer. Raises RedisUnavailable."""
        now = asyncio.get_running_loop().time()
        if now < self.paused_until:
            raise RedisUnavailable
        try:
            with store_call("redis script"):
                async with asyncio.timeout(ANSWER_SECONDS):
                    return await call()
        except (RedisError, OSError, TimeoutError) as error:
            self.paused_until = now + PAUSE_SECONDS
            raise RedisUnavailable from error
