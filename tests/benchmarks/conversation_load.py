"""Many concurrent runs: throughput, the gain of separate savers, and the time until other processes take over."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import uuid4

import httpx2
from benchmarks.bare_graph import bare_graph, bare_turn
from benchmarks.conversation_bench import USERS, Bench, message_events, new_session
from benchmarks.figures import Row, spread

from inference.factory import build_chat_model
from orchestrator import checkpoints

RUNS, AT_ONCE, ROUNDS = 160, 32, 3


async def throughput(bench: Bench) -> list[Row]:
    """Measures short answers, as fast as one process can write them."""
    async with bench.process() as (_, client):
        callers = [bench.users[at % USERS] for at in range(RUNS)]
        sessions = [await new_session(client, caller) for caller in callers]
        began = time.monotonic()
        ended = await asyncio.gather(*(_last(client, *one) for one in zip(sessions, callers, strict=True)))
        took = time.monotonic() - began
    assert set(ended) == {"run_completed"}
    return [(f"runs per second, {RUNS} asked at once, one process", f"{RUNS / took:.1f}", "")]


async def _last(client: httpx2.AsyncClient, session: str, caller: Any) -> str:
    return [str(event.event) async for event in message_events(client, session, caller)][-1]


@dataclass
class OneSaver:
    """Gives the same saver to all runs, as LangGraph's examples do."""

    of: checkpoints.Checkpoints

    def __post_init__(self) -> None:
        self.shared = self.of.saver(uuid4())

    def saver(self, *_: object, **__: object) -> Any:
        return self.shared


async def savers(bench: Bench) -> list[Row]:
    """Compares concurrent turns of the bare graph with a saver each and with one shared saver, alternately."""
    url, chat = bench.settings.database_url.get_secret_value(), build_chat_model(bench.settings)
    assert chat is not None
    async with checkpoints.opened(url, 8) as saved, httpx2.AsyncClient() as http:
        graphs = [bare_graph(bench.settings, one, http, chat) for one in (saved, OneSaver(saved))]
        seconds: list[tuple[float, float]] = []
        for _ in range(ROUNDS + 1):
            own, shared = [await _together(graph) for graph in graphs]
            seconds.append((own, shared))
        await chat.aclose()
    measured = seconds[1:]
    return [
        (f"{AT_ONCE} bare turns at once, each with its saver", f"{median(own for own, _ in measured):.2f} s", ""),
        ("  with one shared saver", f"{median(shared for _, shared in measured):.2f} s", ""),
    ]


async def _together(graph: Any) -> float:
    began = time.perf_counter()
    await asyncio.gather(*(bare_turn(graph) for _ in range(AT_ONCE)))
    return time.perf_counter() - began


async def resumption(bench: Bench) -> list[Row]:
    """Measures the time from the kill -9 of a process amid its answers until another one has resumed each."""
    late: list[float] = []
    usual = bench.world.answer
    for _ in range(ROUNDS):
        late += await _killed(bench)
    bench.world.answer, bench.world.pace = usual, None
    return [(f"from kill -9 until the run goes on elsewhere ({len(late)} runs)", spread(late), "p95 8 s")]


async def _killed(bench: Bench) -> list[float]:
    waiting, writing, over = asyncio.Event(), 0, asyncio.Event()

    async def pace(at: int) -> None:
        nonlocal writing
        if at == 1:
            writing += 1
            if writing == AT_ONCE:
                waiting.set()
            await over.wait()

    bench.world.answer, bench.world.pace = ["Tokens expire ", "after fifteen minutes."], pace
    async with bench.process() as (doomed, client):
        callers = [bench.users[at % USERS] for at in range(AT_ONCE)]
        sessions = [await new_session(client, caller) for caller in callers]
        asked_of = [await _queued(client, *one) for one in zip(sessions, callers, strict=True)]
        await waiting.wait()
        async with bench.process() as (_, other):
            following = [asyncio.create_task(_resumed(other, *one)) for one in zip(asked_of, callers, strict=True)]
            began = time.monotonic()
            doomed.kill()
            over.set()
            return [await one - began for one in following]


async def _queued(client: httpx2.AsyncClient, session: str, caller: Any) -> str:
    body = {"content": "How long are tokens valid?"}
    answer = await client.post(f"/v1/sessions/{session}/messages", json=body, auth=caller)
    return str(answer.raise_for_status().json()["id"])


async def _resumed(client: httpx2.AsyncClient, run_id: str, caller: Any) -> float:
    """Returns the start time of the second attempt; the run must end."""
    at, name = 0.0, ""
    async with client.stream("GET", f"/v1/runs/{run_id}/events", auth=caller) as response:
        async for event in httpx2.EventSource(response, max_event_size=None):
            name = event.event
            if name == "run_started" and event.id.startswith("2-"):
                at = time.monotonic()
    assert (name, bool(at)) == ("run_completed", True)
    return at
