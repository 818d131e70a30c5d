"""A worker is asked to end after its stores: it must not wait for them, or a deployment takes minutes to remove."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
from lost_servers import LosableServer, losable


@pytest.mark.parametrize("lose", [LosableServer.vanish, LosableServer.hold])
async def test_a_worker_whose_database_and_broker_are_gone_ends_when_it_is_asked_to(
    workers: Any, eventually: Any, lose: Any
) -> None:
    async def is_healthy() -> bool:
        return bool(await asyncio.to_thread(workers.is_healthy))

    with (
        losable(workers.environment["DATABASE_URL"]) as database,
        losable(workers.environment["REDIS_URL"]) as broker,
        workers.started(DATABASE_URL=database.url, REDIS_URL=broker.url, WORKER_SHUTDOWN_SECONDS="240") as process,
    ):
        await eventually(is_healthy)
        lose(database)
        lose(broker)
        await eventually(is_healthy, lambda healthy: not healthy)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 120) == 0, workers.log.read_text()[-3000:]
