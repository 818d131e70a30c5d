"""A resumed run goes on exactly where its last attempt was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import StateGraph

from contracts.events import StageStarted
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.turn import OUTDATED
from orchestrator.runs.events import RunEvents

STORED = "stored"


async def test_a_node_begins_when_the_last_ones_checkpoint_is_stored(
    start: Any, model_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    put, emit = AsyncPostgresSaver.aput, RunEvents.emit

    async def slow(*arguments: Any) -> Any:
        for _ in range(100):  # what is ready to run runs first
            await asyncio.sleep(0)
        config = await put(*arguments)
        seen.append(STORED)
        return config

    def noted(events: RunEvents, event: Any) -> None:
        if isinstance(event, StageStarted):
            seen.append(event.stage)
        emit(events, event)

    monkeypatch.setattr(AsyncPostgresSaver, "aput", slow)
    monkeypatch.setattr(RunEvents, "emit", noted)
    async with start(model_settings) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
        trace = (await service.run(run["id"]))["node_trace"]
    at = {name: seen.index(name) for name in trace}
    assert len(trace) == 6
    assert {name: seen[before - 1] for name, before in at.items()} == dict.fromkeys(trace, STORED)


async def test_runs_store_their_checkpoints_at_the_same_time(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor, both, arrived = AsyncPostgresSaver._cursor, asyncio.Barrier(2), set[AsyncPostgresSaver]()

    @asynccontextmanager
    async def met(saver: AsyncPostgresSaver, *, pipeline: bool = False) -> AsyncIterator[Any]:
        async with cursor(saver, pipeline=pipeline) as opened:
            if len(arrived) < 2:
                arrived.add(saver)
                await both.wait()
            yield opened

    monkeypatch.setattr(AsyncPostgresSaver, "_cursor", met)
    async with start(settings.model_copy(update={"run_concurrency": 2})) as service, asyncio.timeout(120):
        runs = [await service.ask(await service.session()) for _ in range(2)]
        ended = [(await service.events(run["id"]))[-1].name for run in runs]
    assert ended == ["run_completed"] * 2
    assert len(arrived) == 2


class OlderGraph(StateGraph[Any, Any, Any, Any]):
    """The graph of an earlier release, in which the node that writes had another name."""

    def add_node(self, node: Any, action: Any, **more: Any) -> Any:  # type: ignore[override]
        return super().add_node(node.replace("reply_to_general_input", "write_answer"), action, **more)

    def add_edge(self, start_key: Any, end_key: str) -> Any:
        names = (key.replace("reply_to_general_input", "write_answer") for key in (start_key, end_key))
        return super().add_edge(*names)

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Any:  # type: ignore[override]
        older = {name: name.replace("reply_to_general_input", "write_answer") for name in [source, *path_map]}
        return super().add_conditional_edges(older[source], path, {end: older[end] for end in path_map})


async def test_a_checkpoint_of_another_graph_is_not_taken_for_the_end(
    start: Any, model_settings: Any, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = asyncio.Event()

    async def forever(_: int) -> None:
        writing.set()
        await asyncio.Event().wait()

    world.pace = forever
    with monkeypatch.context() as patched:
        patched.setattr(conversation, "StateGraph", OlderGraph)
        async with start(model_settings) as service:
            run = await service.ask(await service.session())
            await writing.wait()
    world.pace = None
    async with start(model_settings) as service, asyncio.timeout(120):
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["status"] == "completed"
    assert ended["answer"]["content"].startswith("Tokens expire after fifteen minutes [1].")
    assert ended["node_trace"][:3] == ["generate_path", "retrieve", "reply_to_general_input"]
    assert ended["issues"] == [OUTDATED]
    assert len(world.searches) == 2
