"""Long-running tasks of a process: consumers, relays, workers. A task that fails is logged, counted and restarted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from service_kit.problems import Unavailable
from service_kit.telemetry import Metrics

log = logging.getLogger(__name__)
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS, CALM_SECONDS = 0.2, 10.0, 30.0


class Background:
    """An async context manager: `start` runs a coroutine function until the block ends, then all are cancelled."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.failing: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await stopped(*self.tasks.values())

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self.metrics.restarts.labels(name)  # at 0 from the start
        self.tasks[name] = asyncio.create_task(self._keep_running(name, work), name=name)

    async def check(self) -> None:
        """Raises from a task's failure until it has run without one for a while. A health check."""
        if self.failing:
            raise Unavailable(", ".join(f"{name}: {kind}" for name, kind in self.failing.items()))

    async def _keep_running(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        delay, loop = FIRST_DELAY_SECONDS, asyncio.get_running_loop()
        while True:
            started = loop.time()
            calm = loop.call_later(CALM_SECONDS, self.failing.pop, name, None)
            try:
                await work()
                return
            except Exception as error:
                log.exception("background task failed", extra={"task": name})
                self.failing[name] = type(error).__name__
                self.metrics.restarts.labels(name).inc()
            finally:
                calm.cancel()
            delay = (
                FIRST_DELAY_SECONDS if loop.time() - started > CALM_SECONDS else min(2 * delay, LONGEST_DELAY_SECONDS)
            )
            await asyncio.sleep(delay)


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    """Cancels the tasks and waits for their end; repeatedly, as before Python 3.12 wait_for may lose a cancellation."""
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=1)
