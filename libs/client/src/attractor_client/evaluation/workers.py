"""Runs several copies of a worker concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from attractor_client.errors import AttractorError


async def side_by_side(count: int, worker: Callable[[], Awaitable[None]]) -> None:
    """Runs `count` workers to their end. The first AttractorError cancels the others and is raised unwrapped."""

    async def run() -> None:
        await worker()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(run())
    except BaseExceptionGroup as errors:
        for error in errors.exceptions:
            if isinstance(error, AttractorError):
                raise error from None
        raise
