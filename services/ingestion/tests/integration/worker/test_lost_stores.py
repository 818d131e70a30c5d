"""A worker is asked to end after its stores: it must not wait for them, or a deployment takes minutes to remove."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from held_port import held_port
from lost_servers import LosableServer, losable


async def test_a_worker_whose_database_and_broker_are_gone_ends_when_it_is_asked_to(
    workers: Any, eventually: Any, tmp_path: Path
) -> None:
    """The stores of one worker vanish, those of another hang; both at once, as most of it is waiting."""

    async def ends(own: Any, lose: Callable[[LosableServer], None]) -> None:
        async def is_healthy() -> bool:
            return bool(await asyncio.to_thread(own.is_healthy))

        with (
            losable(own.environment["DATABASE_URL"]) as database,
            losable(own.environment["REDIS_URL"]) as broker,
            own.started(DATABASE_URL=database.url, REDIS_URL=broker.url, WORKER_SHUTDOWN_SECONDS="240") as process,
        ):
            await eventually(is_healthy)
            lose(database)
            lose(broker)
            await eventually(is_healthy, lambda healthy: not healthy)
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 120) == 0, own.log.read_text()[-3000:]

    folder = tmp_path / "another"
    folder.mkdir()
    with held_port() as port:
        changed = {"PRIVATE_PORT": str(port), "WORK_FOLDER": str(folder)}
        another = type(workers)(workers.environment | changed, folder)
        async with asyncio.TaskGroup() as both:
            both.create_task(ends(workers, LosableServer.vanish))
            both.create_task(ends(another, LosableServer.hold))
