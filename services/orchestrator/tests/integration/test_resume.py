"""A resumed run continues exactly where its last attempt stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import StateGraph

from contracts.run_events import RunPhase, StageCompleted, StageStarted
from orchestrator.checkpoints import RunSaver
from orchestrator.graphs.artifact_ops import graph as artifact_ops
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.turn import OUTDATED
from orchestrator.graphs.stages import ERROR_HANDLER
from orchestrator.runs.events import RunEvents
from service_kit.work import LeaseLost

STORED = "stored"
# What is asked, and the node that fails.
TURNS: list[tuple[str, list[str]]] = [
    ("Write a one-page summary of how tokens work", []),
    ("How long are tokens valid?", []),
    ("How long do they last?", ["generate_path"]),
]


async def test_a_node_starts_only_after_the_previous_checkpoint_is_stored(
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
    at = {name: seen.index(name) for name in trace[1:]}
    assert len(at) == 5
    assert {name: seen[before - 1] for name, before in at.items()} == dict.fromkeys(at, STORED)
    assert seen.count(STORED) == len(trace)


async def test_concurrent_runs_store_their_checkpoints(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor, both, arrived = RunSaver._cursor, asyncio.Barrier(2), set[RunSaver]()

    @asynccontextmanager
    async def met(saver: RunSaver, *, pipeline: bool = False) -> AsyncIterator[Any]:
        async with cursor(saver, pipeline=pipeline) as opened:
            if len(arrived) < 2:
                arrived.add(saver)
                await both.wait()
            yield opened

    monkeypatch.setattr(RunSaver, "_cursor", met)
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


async def test_a_checkpoint_of_another_graph_is_not_mistaken_for_the_end(
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


async def test_a_process_killed_in_each_node_repeats_no_finished_node_and_creates_one_version(
    start: Any, model_settings: Any, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stops each node after its work and before its checkpoint, which leaves the state of a kill -9 at that moment."""
    emit, died, dead = RunEvents.emit, set[tuple[Any, str]](), asyncio.Event()
    told: list[RunEvents] = []

    def cut(events: RunEvents, event: Any) -> None:
        if isinstance(event, StageCompleted) and (events.run_id, event.stage) not in died:
            died.add((events.run_id, event.stage))
            told.append(events)
            dead.set()
            raise LeaseLost
        emit(events, event)

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    async def ended(run_id: str) -> tuple[Any, list[Any]]:
        following = asyncio.create_task(service.events(run_id))
        while True:
            waiting = asyncio.create_task(dead.wait())
            await asyncio.wait({following, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                waiting.cancel()
                return await service.run(run_id), following.result()
            dead.clear()
            await told.pop().flush()  # it dies after its events are written, not in the moment in which they gather
            async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
                await connection.execute(
                    "UPDATE run SET state = 'queued', lease_token = NULL, lease_expires_at = NULL WHERE id = %s",
                    (run_id,),
                )

    world.scripted = {
        "Write the document that the user asks for": ["# Tokens\n\nTokens expire after fifteen minutes [1]."],
        "You have just changed a document": ["Done."],
    }
    monkeypatch.setattr(RunEvents, "emit", cut)
    url = model_settings.database_url.get_secret_value()
    settings = model_settings.model_copy(
        update={"run_max_attempts": 50, "run_lease_seconds": 3_600.0, "summary_tokens": 1}
    )
    async with start(settings) as service:
        session, nodes = await service.session(), set[str]()
        for content, failing in TURNS:
            if failing:
                monkeypatch.setattr("orchestrator.graphs.conversation.nodes.generate_path.path_of", broken)
            async with asyncio.timeout(240):
                run, events = await ended((await service.ask(session, content))["id"])
            assert run["status"] == "completed"
            started_stages = [event.data["stage"] for event in events if event.name == "stage_started"]
            assert started_stages == [*failing, *(name for name in run["node_trace"] for _ in range(2))]
            assert [event.data["stage"] for event in events if event.name == "stage_completed"] == run["node_trace"]
            assert run["attempts"] == len(run["node_trace"]) + 1
            phases = list(RunPhase)
            reported_phases = [phases.index(event.data["phase"]) for event in events if event.name == "stage_started"]
            assert reported_phases == sorted(reported_phases)
            nodes |= set(run["node_trace"])
        artifact = (await service.client.get(f"/v1/sessions/{session}/artifact")).json()
    assert (artifact["index"], artifact["last_index"]) == (1, 1)
    known = {*conversation.build().nodes, *artifact_ops.ACTIONS, "artifact_action_dispatch", "generate_followup"}
    unseen = {"__start__", "artifact_ops", "image_processing", "reply_plainly", "world_modifier"}
    unseen |= {*artifact_ops.ACTIONS} - {"generate_artifact"}
    assert nodes == known - unseen
    assert ERROR_HANDLER in nodes
