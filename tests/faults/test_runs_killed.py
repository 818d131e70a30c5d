"""A run survives the death of its process in any node, and a process that slept too long.

Each accepted run ends once, no model is called again for a finished node, and all followers see the same text.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

import httpx2
import psycopg
import pytest
from doomed_orchestrator import IN_THE_MIDDLE, POINTS, WRITING, serve
from held_port import held_port
from orchestrator_service import orchestrator_fixtures

from contracts.run_events import RUN_EVENTS
from orchestrator.graphs.stages import ERROR_HANDLER
from service_kit.work import WorkQueue

service_tests = orchestrator_fixtures()
audience, world, others = service_tests.audience, service_tests.world, service_tests.others
settings, model_settings, start = service_tests.settings, service_tests.model_settings, service_tests.start
image_bucket = service_tests.image_bucket
lapse = service_tests.lapse

NODES = (
    "generate_path",
    "retrieve",
    WRITING,
    "verify_citations",
    "clean_state",
    "generate_title",
    "summarizer",
)
TERMINAL = {event.name for event in RUN_EVENTS if event.terminal}
PIECES = ["Tokens expire ", "after ", "fifteen ", "minutes ", "[1]."]
WHOLE = "Tokens expire after fifteen minutes [1]."
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["doomed_orchestrator"])


class Held:
    """A gate: while it is closed, this process claims no run; other processes do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = False
        claim = WorkQueue.claim

        async def claimed(queue: WorkQueue[Any], limit: int, **parameters: object) -> list[Any]:
            return await claim(queue, limit, **parameters) if self.open else []

        monkeypatch.setattr(WorkQueue, "claim", claimed)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


@asynccontextmanager
async def process(*arguments: object, **more: object) -> AsyncIterator[BaseProcess]:
    child = PROCESSES.Process(target=serve, args=arguments, kwargs=more)
    await asyncio.to_thread(child.start)
    try:
        yield child
    finally:
        if child.exitcode is None:
            child.kill()
        await asyncio.to_thread(child.join)


def shown(events: list[Any]) -> str:
    """Returns what a client that follows the events shows."""
    text = ""
    for event in events:
        if event.name == "message_delta":
            text += event.data["text"]
        elif event.name == "message_restarted":
            text = ""
    return text


def calls(world: Any, question: str) -> dict[str, int]:
    """Returns the number of searches for a question, and of model calls per node."""
    prompts = [(chat["messages"][0]["content"], chat["messages"][-1]["content"]) for chat in world.chats]
    return {
        "retrieve": sum(body["query"].startswith(question) for body, _ in world.searches),
        WRITING: sum(first.startswith("You are Attractor") and last.startswith(question) for first, last in prompts),
        "generate_title": sum("title of three" in first and question in first for first, _ in prompts),
        "summarizer": sum(first.startswith("Summarize") and question in first for first, _ in prompts),
    }


async def killed(settings: Any, run_id: str, node: str, point: str, **more: object) -> None:
    """Lets a separate process work on the run, and die at the given point."""
    with held_port() as port:
        doomed = settings.model_copy(update={"port": port, "run_concurrency": 1})
        async with process(doomed, run_id, node, point, **more) as child:
            await asyncio.to_thread(child.join)
            assert child.exitcode == -signal.SIGKILL


ARTIFACT_NODES = (
    "generate_path",
    "retrieve",
    "artifact_action_dispatch",
    "generate_artifact",
    "generate_followup",
    "reflect",
    "clean_state",
)
WRITE = "Write the document that the user asks for"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("node", ARTIFACT_NODES)
async def test_a_document_is_written_once_whichever_node_its_run_is_killed_in(
    start: Any, model_settings: Any, world: Any, held: Held, lapse: Any, node: str
) -> None:
    document = "# Tokens\n\nTokens expire after fifteen minutes [1]."
    world.scripted = {WRITE: [document[:20], document[20:]], "You have just changed": ["Done."]}
    async with start(model_settings) as service:
        runs = {}
        for point in POINTS:
            wish = f"Write a report on {node}, {point}"
            runs[point] = (wish, await service.ask(await service.session(title="t"), wish))
        await asyncio.gather(*(killed(model_settings, run["id"], node, point) for point, (_, run) in runs.items()))
        await lapse(*(run["id"] for _, run in runs.values()))
        held.open = True
        async with asyncio.timeout(240):
            for point, (wish, run) in runs.items():
                events = await service.events(run["id"])
                ended = await service.run(run["id"])
                assert (ended["status"], ended["attempts"], ended["answer"]["content"]) == ("completed", 2, "Done.")
                assert sorted(ended["node_trace"]) == sorted(ARTIFACT_NODES), point
                artifact = (await service.client.get(f"/v1/sessions/{run['session_id']}/artifact")).json()
                assert (artifact["text"], artifact["last_index"]) == (f"{document}\n", 1), point
                assert (ended["answer"]["artifact_index"], events[-1].data["artifact_outcome"]) == (1, "current")
                asked = sum(
                    WRITE in chat["messages"][0]["content"] and chat["messages"][-1]["content"] == wish
                    for chat in world.chats
                )
                assert asked == (2 if (node, point) == ("generate_artifact", IN_THE_MIDDLE) else 1), point


@pytest.mark.timeout(600)
@pytest.mark.parametrize("node", NODES)
async def test_a_run_survives_a_kill_in_any_node(
    start: Any, model_settings: Any, world: Any, held: Held, lapse: Any, node: str
) -> None:
    world.answer = PIECES
    settings = model_settings.model_copy(update={"summary_tokens": 100, "history_tokens": 100})
    async with start(settings) as service:
        runs = {}
        for point in POINTS:
            question = f"{node}, {point}: how long are tokens valid?"
            runs[point] = (question, await service.ask(await service.session(), question + " and so on" * 60))
        early = {point: asyncio.create_task(service.events(run["id"])) for point, (_, run) in runs.items()}

        await asyncio.gather(*(killed(settings, run["id"], node, point) for point, (_, run) in runs.items()))
        await lapse(*(run["id"] for _, run in runs.values()))
        held.open = True
        async with asyncio.timeout(240):
            for point, (question, run) in runs.items():
                first, late = await early[point], await service.events(run["id"])
                ended = await service.run(run["id"])
                assert (ended["status"], ended["attempts"], ended["answer"]["content"]) == ("completed", 2, WHOLE), (
                    point
                )
                assert shown(first) == shown(late) == WHOLE, point
                assert [event.name for event in first if event.name in TERMINAL] == ["run_completed"], point
                assert sorted(ended["node_trace"]) == sorted(NODES), point
                expected = dict.fromkeys(("retrieve", WRITING, "generate_title", "summarizer"), 1)
                if point == IN_THE_MIDDLE and node in expected:
                    expected[node] = 2
                assert calls(world, question) == expected, point


@pytest.mark.timeout(600)
async def test_a_run_with_a_failed_node_survives_a_kill_in_the_error_handler(
    start: Any, model_settings: Any, world: Any, held: Held, lapse: Any
) -> None:
    world.answer = PIECES
    async with start(model_settings) as service:
        runs = {}
        for point in POINTS:
            question = f"{ERROR_HANDLER}, {point}: how long are tokens valid?"
            runs[point] = (question, await service.ask(await service.session(title="t"), question))
        early = {point: asyncio.create_task(service.events(run["id"])) for point, (_, run) in runs.items()}
        await asyncio.gather(
            *(killed(model_settings, run["id"], ERROR_HANDLER, point, fails=True) for point, (_, run) in runs.items())
        )
        await lapse(*(run["id"] for _, run in runs.values()))
        held.open = True
        async with asyncio.timeout(240):
            for point, (question, run) in runs.items():
                first, late = await early[point], await service.events(run["id"])
                ended = await service.run(run["id"])
                assert (ended["status"], ended["attempts"]) == ("completed", 2), point
                assert ended["answer"]["content"].startswith("Tokens expire after fifteen minutes."), point
                assert shown(first) == shown(late) == ended["answer"]["content"], point
                assert [event.name for event in first if event.name in TERMINAL] == ["run_completed"], point
                assert ended["issues"] == ["verify_citations failed: ZeroDivisionError"], point
                made = calls(world, question)
                assert (made["retrieve"], made[WRITING]) == (1, 1), point


@pytest.mark.timeout(600)
async def test_a_process_suspended_past_its_lease_changes_nothing(
    start: Any, model_settings: Any, world: Any, held: Held, lapse: Any, unused_port: int
) -> None:
    world.answer = PIECES
    asleep, awake = asyncio.Event(), asyncio.Event()

    async def pace(at: int) -> None:
        if at == 2 and not asleep.is_set():
            asleep.set()
            await awake.wait()

    world.pace = pace
    async with start(model_settings) as service, asyncio.timeout(240):
        run = await service.ask(await service.session(title="t"))
        sleepy = model_settings.model_copy(update={"port": unused_port, "run_concurrency": 1})
        async with process(sleepy, run["id"]) as child:
            await asleep.wait()
            assert child.pid is not None
            await suspend_between_transactions(child.pid, sleepy)
            await lapse(run["id"])
            held.open = True
            events = await service.events(run["id"])
            before = await service.run(run["id"])
            os.kill(child.pid, signal.SIGCONT)
            awake.set()
            await superseded(sleepy.port)
        after, again = await service.run(run["id"]), await service.events(run["id"])
    assert (before["status"], before["attempts"], before["answer"]["content"]) == ("completed", 2, WHOLE)
    assert but_usage(after) == but_usage(before)
    assert again == events
    assert shown(events) == WHOLE
    assert [event.name for event in events if event.name in TERMINAL] == ["run_completed"]


async def suspend_between_transactions(pid: int, settings: Any) -> None:
    """Suspends the process while it does not hold the row of its run, for which all others would wait."""
    url = settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        while True:
            os.kill(pid, signal.SIGSTOP)
            try:
                async with connection.transaction():
                    await connection.execute("SELECT 1 FROM run FOR UPDATE NOWAIT")
            except psycopg.errors.LockNotAvailable:
                os.kill(pid, signal.SIGCONT)
                continue
            return


def but_usage(run: dict[str, Any]) -> dict[str, Any]:
    """Returns the run without its usage: a superseded attempt's call is counted only when it ends."""
    answer = {name: value for name, value in run["answer"].items() if name != "usage"}
    return {name: value for name, value in run.items() if name != "usage"} | {"answer": answer}


async def superseded(port: int) -> None:
    """Waits until the process behind the port reports that another one has its run."""
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while 'attempts_total{result="superseded"} 1.0' not in (await client.get("/metrics")).text:  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # only its metrics show this
