"""Runs leased work: the loop of a worker process, and keeping the lease of an item in progress."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

import psycopg

from service_kit.background import stopped
from service_kit.heartbeat import Held, until_beat
from service_kit.notifications import Notifications, Subscription
from service_kit.postgres import Connection
from service_kit.problems import Unavailable, WorkspaceGone
from service_kit.work import LeaseLost, StopAsked, WorkQueue

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Write = Callable[[Connection], Awaitable[None]]
EXTENSIONS_PER_LEASE = 3
FIRST_LOOK_SECONDS = 0.3


class Worker(Generic[Held]):
    """Claims work, up to `concurrency` items at a time, and runs `execute` on each.

    `execute` ends or releases the work, even if cancelled. If it raises, the lease runs out and another process takes
    over.

    When the process stops, `on_stop` is called; work in progress has `grace_seconds` to end before it is cancelled.
    """

    def __init__(
        self,
        queue: WorkQueue[Held],
        execute: Callable[[Held], Awaitable[None]],
        notifications: Notifications,
        concurrency: int,
        *,
        on_stop: Callable[[], None] | None = None,
        grace_seconds: float = 0.0,
        **parameters: object,
    ) -> None:
        """`notifications` listen on the table's channel; `parameters` are passed to each claim."""
        self.queue, self.execute, self.notifications = queue, execute, notifications
        self.concurrency, self.parameters = concurrency, parameters
        self.working: set[asyncio.Task[None]] = set()
        self._on_stop, self._grace_seconds = on_stop, grace_seconds
        self._stops_at: float | None = None
        self._woken: asyncio.Event | None = None

    def stop(self) -> None:
        """Stops claiming; `run` returns when the work in progress has ended."""
        if self._stops_at is None:
            self._stops_at = asyncio.get_running_loop().time() + self._grace_seconds
            if self._on_stop is not None:
                self._on_stop()
            if self._woken is not None:
                self._woken.set()

    async def run(self) -> None:
        """Runs until stopped or cancelled, then until all work has ended or is released.

        Looks for lost leases a few times per lease. While the database is unavailable, nothing is claimed and work in
        progress continues. Any other error is raised once that is released; `run` may then be called again.
        """
        try:
            async with self.notifications.subscribe(self.queue.table.channel) as wake:
                self._woken = wake.event
                await self._keep_claiming(wake)
        except Exception:
            await uninterrupted(stopped(*self.working))
            raise
        except asyncio.CancelledError:
            await uninterrupted(self._end())
            raise
        await uninterrupted(self._end())

    async def _keep_claiming(self, wake: Subscription) -> None:
        loop = asyncio.get_running_loop()
        pause, next_recovery = self.queue.lease_seconds / EXTENSIONS_PER_LEASE, loop.time()
        while self._stops_at is None:
            try:
                if loop.time() >= next_recovery:
                    await self.queue.recover()
                    next_recovery = loop.time() + pause
                await self._claim(wake.event)
            except (psycopg.OperationalError, Unavailable) as error:
                log.warning("could not claim work", exc_info=error, extra={"table": self.queue.table.name})
            await wake.wait(pause)

    async def _end(self) -> None:
        self.stop()
        assert self._stops_at is not None
        if self.working:
            remaining = self._stops_at - asyncio.get_running_loop().time()
            await asyncio.wait(self.working, timeout=max(0.0, remaining))
        await stopped(*self.working)

    async def _claim(self, wake: asyncio.Event) -> None:
        free = self.concurrency - len(self.working)
        if free <= 0:
            return
        for held in await self.queue.claim(free, **self.parameters):
            task = asyncio.create_task(self._execute(held))
            self.working.add(task)
            task.add_done_callback(self.working.discard)
            task.add_done_callback(lambda _: wake.set())

    async def _execute(self, held: Held) -> None:
        try:
            await self.execute(held)
        except (LeaseLost, WorkspaceGone):
            log.info("lease lost", extra={"table": self.queue.table.name, "workspace_id": str(held.workspace_id)})
        except Exception:  # the boundary of one item: its lease expires, and it is claimed again
            log.exception("work failed", extra={"table": self.queue.table.name})


def nothing() -> Write | None:
    """Returns None: there is nothing more to write."""
    return None


async def while_held(
    queue: WorkQueue[Held],
    held: Held,
    work: Coroutine[Any, Any, Result],
    columns: Callable[[], Mapping[str, object]] = dict,
    wake: asyncio.Event | None = None,
    also: Callable[[], Write | None] = nothing,
) -> Result:
    """Returns what `work` returns, and extends the lease until then, writing `columns` and what `also` returns.

    If neither has changed, one statement extends all work of this process and table. Cancels the work and raises
    LeaseLost, or StopAsked if the row asks to stop (it is checked at once when `wake` is set). If the work ends at the
    same time, its result counts.
    """
    task = asyncio.create_task(work)
    keeping = asyncio.create_task(_Keeper(queue, held, columns, also).keep(wake or asyncio.Event()))
    try:
        await asyncio.wait({task, keeping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        finished = task.done()
        await stopped(task, keeping)
        await asyncio.gather(task, keeping, return_exceptions=True)
    if not finished:
        return keeping.result()
    if task.cancelled():
        raise RuntimeError("the work was cancelled from within")
    return task.result()


@dataclass
class _Keeper(Generic[Held]):
    """Extends one lease a few times per duration, in step with the other leases of this process."""

    queue: WorkQueue[Held]
    held: Held
    columns: Callable[[], Mapping[str, object]]
    also: Callable[[], Write | None]
    written: Mapping[str, object] | None = None

    async def keep(self, wake: asyncio.Event) -> NoReturn:
        """Raises LeaseLost, StopAsked."""
        loop = asyncio.get_running_loop()
        pause = self.queue.lease_seconds / EXTENSIONS_PER_LEASE
        held_until = loop.time() + self.queue.lease_seconds
        # The first look is early, because a stop request since the claim has gone unnoticed.
        alone = await _waited(wake, min(FIRST_LOOK_SECONDS, pause))
        while True:
            requested_at = loop.time()
            try:
                if await self._extend(alone):
                    raise StopAsked
                held_until = requested_at + self.queue.lease_seconds
            except (psycopg.OperationalError, Unavailable) as error:
                # While the database is down, no other process can claim the work; once it is back, extending shows it.
                log.warning("could not extend the lease", exc_info=error, extra={"table": self.queue.table.name})
                if loop.time() > held_until:
                    raise LeaseLost from error
            alone = await _waited(wake, until_beat(pause))

    async def _extend(self, alone: bool) -> bool:
        """Returns whether to stop."""
        columns, write = dict(self.columns()), self.also()
        if not alone and write is None and columns == (self.written or {}):
            stop = await self.queue.heartbeat.extend(self.held)
            if stop is not None:
                return stop
        async with self.queue.database.workspace(self.held.workspace_id) as connection:
            stop = await self.queue.extend(connection, self.held, **columns)
            if not stop and write is not None:
                await write(connection)
        self.written = columns
        return stop


async def _waited(event: asyncio.Event, seconds: float) -> bool:
    """Returns whether the event was set within `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    event.clear()
    return True


async def uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """Returns what `work` returns; cancellations, however many, take effect after its end."""
    task, cancelled = asyncio.create_task(work), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        task.exception()
        raise asyncio.CancelledError
    return task.result()
