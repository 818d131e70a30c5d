"""Some of the same worker side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from attractor_client.errors import AttractorError


async def side_by_side(count: int, worker: Callable[[], Awaitable[None]]) -> None:
    """Until all have ended. The first error of the client ends the others and is raised as it is."""

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
