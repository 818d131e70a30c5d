"""Waits for something to change, woken by database notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from service_kit.notifications import Notifications

T = TypeVar("T")
BURST_SECONDS = 0.3


async def until(
    notifications: Notifications,
    channel: str,
    changed_id: UUID | None,
    read: Callable[[], Awaitable[T]],
    done: Callable[[T], bool],
    timeout: float,
) -> T:
    """Calls `read` again whenever the channel names the id, until `done` holds or `timeout` seconds have passed.

    With `changed_id` None, any notification counts. Returns the last value read, earlier if the process is asked to
    stop; errors of `read` propagate.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    async with notifications.subscribe(channel, str(changed_id) if changed_id else None) as changed:
        while True:
            state = await read()
            left = min(deadline, notifications.waits_end_at) - loop.time()
            if done(state) or left <= 0 or not await changed.wait(left):
                return state
            if changed_id is None:  # one read for a burst of changes
                await asyncio.sleep(min(BURST_SECONDS, max(deadline - loop.time(), 0)))
