"""Waiting for the state of another process, which sends no event about it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


async def eventually(read: Callable[[], Awaitable[Any]], good: Callable[[Any], bool], seconds: float = 180) -> Any:
    """Returns what `read` returns once it is good. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not good(found := await read()):  # noqa: ASYNC110  another process's state has no event
            await asyncio.sleep(0.05)
    return found
