"""A memory process that kills itself (kill -9) at a given step of handling a turn."""

from __future__ import annotations

import os
import signal
from typing import Any

import uvicorn

from memory import app, consumer
from memory.consumer import MemoryConsumer
from memory.repository import Memories
from memory.settings import Settings
from service_kit.streams import Consumer

RECEIVED, DECIDED, STORED, BEFORE_ACKNOWLEDGING = STEPS = ("received", "decided", "stored", "before acknowledging")


def serve(settings: Settings, step: str) -> None:
    """Serves until it is killed: before anything is read, or decided but not written, or written but not committed,
    or committed but not acknowledged.
    """
    refresh_status = consumer.refresh_status

    async def die(*_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    async def die_after(*arguments: Any) -> Any:
        await refresh_status(*arguments)
        await die()

    match step:
        case "received":
            MemoryConsumer.turn_completed = die  # type: ignore[method-assign]
        case "decided":
            Memories.lock = die  # type: ignore[method-assign]
        case "stored":
            consumer.refresh_status = die_after
        case "before acknowledging":
            Consumer._done = die  # type: ignore[method-assign]
    uvicorn.run(app.create_app(settings), host=settings.host, port=settings.port, log_config=None)
