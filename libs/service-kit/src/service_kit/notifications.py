"""PostgreSQL's LISTEN as awaitable events, so that waits end when something happens, not when a timer fires."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf

import psycopg
from psycopg import sql

from service_kit.postgres import PATIENCE

STOPPING_SECONDS = 8.0  # in which requests may go on waiting; the server cancels them after GRACEFUL_SECONDS


class Subscription:
    """Set whenever a notification arrives; `wait` then returns True, or False if the timeout passes first."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def wait(self, timeout: float) -> bool:
        """Waits up to `seconds`. Call it after reading the state: a notification that arrived meanwhile counts."""
        try:
            async with asyncio.timeout(timeout):
                await self.event.wait()
        except TimeoutError:
            return False
        finally:
            self.event.clear()
        return True


class Notifications:
    """One connection of the process listens on the given channels; `run` is its background task."""

    def __init__(self, url: str, *channels: str) -> None:
        self.url, self.channels = url, channels
        self.subscriptions: dict[tuple[str, str | None], set[Subscription]] = defaultdict(set)
        self.waits_end_at = inf

    def stop(self) -> None:
        """Lets requests wait for only as long as the process still answers, which has been asked to stop."""
        self.waits_end_at = asyncio.get_running_loop().time() + STOPPING_SECONDS
        self._wake_all()

    @asynccontextmanager
    async def subscribe(self, channel: str, payload: str | None = None) -> AsyncIterator[Subscription]:
        """Subscribes to a channel, or only to its notifications with this payload."""
        subscription, key = Subscription(), (channel, payload)
        self.subscriptions[key].add(subscription)
        try:
            yield subscription
        finally:
            self.subscriptions[key].discard(subscription)
            if not self.subscriptions[key]:
                del self.subscriptions[key]

    async def run(self) -> None:
        """Listens until cancelled; raises when the connection is lost. Starting again wakes all waiters."""
        async with await self._connect() as connection:
            for channel in self.channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            self._wake_all()
            async for notification in connection.notifies():
                self._wake(notification.channel, notification.payload)

    async def _connect(self) -> psycopg.AsyncConnection:
        """Connects, even if cancelled meanwhile, then closes cleanly: an aborted log-in keeps the server waiting."""
        connecting = asyncio.ensure_future(psycopg.AsyncConnection.connect(self.url, autocommit=True, **PATIENCE))
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            with suppress(psycopg.Error):
                await (await connecting).close()
            raise

    def _wake(self, channel: str, payload: str) -> None:
        for key in ((channel, None), (channel, payload)):
            for subscription in self.subscriptions.get(key, ()):
                subscription.event.set()

    def _wake_all(self) -> None:
        for subscriptions in self.subscriptions.values():
            for subscription in subscriptions:
                subscription.event.set()
