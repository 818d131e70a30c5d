"""Waits for what another process or server does, which no event tells."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest


async def eventually(
    read: Callable[[], Awaitable[Any]], good: Callable[[Any], bool] = bool, seconds: float = 180
) -> Any:
    """Returns what `read` returns once it is good; fails with what was read last."""
    found = None
    try:
        async with asyncio.timeout(seconds):
            while not good(found := await read()):  # noqa: ASYNC110  it asks from outside, as a caller does
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"it did not happen; last seen: {found}")
    return found
