"""An orchestrator process that works on a single run, and may kill itself (kill -9) at a given point of it."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import Any

import uvicorn
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from contracts.run_events import MessageDelta, RunEventData, StageCompleted, StageStarted
from orchestrator import app
from orchestrator.graphs.conversation.nodes import verify_citations
from orchestrator.runs.events import RunEvents
from orchestrator.settings import Settings

BEFORE_ITS_FIRST_EVENT, IN_THE_MIDDLE, AFTER_ITS_CHECKPOINT = POINTS = ("before", "middle", "after")
WRITING = "reply_to_general_input"


def serve(
    settings: Settings, run_id: str | None, node: str | None = None, point: str | None = None, *, fails: bool = False
) -> None:
    """Serves until it is killed; without `run_id` works on any run. `fails`: checking an answer fails here.

    For the node that writes the answer, the middle is within the model's stream; for any other node, it is after its
    work is done and reported, but before it is stored.
    """
    if run_id is not None:
        app.RUNS = replace(app.RUNS, claimable=f"work.id = '{run_id}'")
    if fails:
        verify_citations.verified = _failed  # type: ignore[assignment]
    if node is not None:
        _arm(node, point)
    uvicorn.run(app.create_app(settings), host=settings.host, port=settings.port, log_config=None)


def _arm(node: str, point: str | None) -> None:
    emit, put = RunEvents.emit, AsyncPostgresSaver.aput
    pieces, done = [], []

    def emitted(events: RunEvents, event: RunEventData) -> None:
        if point == BEFORE_ITS_FIRST_EVENT and isinstance(event, StageStarted) and event.stage == node:
            _die()
        emit(events, event)
        if isinstance(event, MessageDelta):
            pieces.append(event)
        if isinstance(event, StageCompleted) and event.stage == node:
            done.append(event)
        if point == IN_THE_MIDDLE and (len(pieces) == 2 if node == WRITING else done):
            _die()

    async def stored(saver: AsyncPostgresSaver, *arguments: Any) -> Any:
        config = await put(saver, *arguments)
        if point == AFTER_ITS_CHECKPOINT and done:
            _die()
        return config

    RunEvents.emit = emitted  # type: ignore[method-assign]
    AsyncPostgresSaver.aput = stored  # type: ignore[method-assign]


def _failed(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
