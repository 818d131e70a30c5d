"""The cost of durable runs: per turn, with many concurrent streams, and in checkpoints.

The orchestrator is a separate process on its own engines; the services that it calls respond instantly, by script.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import httpx2
from benchmarks.bare_graph import bare_graph, bare_turn
from benchmarks.conversation_bench import USERS, Bench, message_events, new_session
from benchmarks.conversation_load import resumption, savers, throughput
from benchmarks.figures import Row, spread

from inference.factory import build_chat_model
from orchestrator import checkpoints

TURNS, STREAMS, LATER = 40, (50, 200), 100
PIECES, PACE_SECONDS = 20, 0.2


async def conversations() -> list[Row]:
    """Returns all figures of this module."""
    async with Bench.opened() as bench:
        rows = [*await overhead(bench), *await savers(bench), *await stored(bench), *await throughput(bench)]
        rows += await resumption(bench)
        for count in STREAMS:
            rows += await streams(bench, count)
        return rows


async def overhead(bench: Bench) -> list[Row]:
    """Compares a turn through the service with the bare graph and the same saver, alternately."""
    url, chat = bench.settings.database_url.get_secret_value(), build_chat_model(bench.settings)
    async with (
        bench.process() as (_, client),
        checkpoints.opened(url, 4) as saved,
        httpx2.AsyncClient() as http,
    ):
        bare = bare_graph(bench.settings, saved, http, chat)
        session = (await client.post("/v1/sessions", json={"title": "t"})).json()["id"]
        pairs = [(await bare_turn(bare), await _turn(client, session)) for _ in range(TURNS + 5)][5:]
        assert chat is not None
        await chat.aclose()
    return [
        ("a turn of the bare graph with the same saver", spread([alone for alone, _ in pairs]), ""),
        ("a turn through the service, until its last event", spread([whole for _, whole in pairs]), ""),
        ("  as a ratio", f"{median(whole / alone for alone, whole in pairs):.1f}", "1.5"),
    ]


class StampedPieces:
    """An answer whose deltas state when the model has to write them, on the system-wide clock."""

    def __iter__(self) -> Iterator[str]:
        for _ in range(PIECES):
            yield f"{time.monotonic() + PACE_SECONDS:.4f} "


async def streams(bench: Bench, count: int) -> list[Row]:
    """Measures `count` concurrent answers of one process. Model and clients share a process on the same machine."""

    async def pace(_: int) -> None:
        await asyncio.sleep(PACE_SECONDS)

    usual, bench.world.answer, bench.world.pace = bench.world.answer, StampedPieces(), pace
    async with bench.process(run_concurrency=count) as (process, client):
        idle = process.memory_info().rss
        callers = [bench.users[at % USERS] for at in range(count)]
        sessions = [await new_session(client, caller) for caller in callers]
        began = time.monotonic()
        following = [asyncio.create_task(_lateness(client, *one)) for one in zip(sessions, callers, strict=True)]
        most = idle
        while (await asyncio.wait(following, timeout=0.2))[1]:
            most = max(most, process.memory_info().rss)
        took = time.monotonic() - began
    bench.world.answer, bench.world.pace = usual, None
    late = [seconds for one in following for seconds in one.result()]
    return [
        (f"{count} streams at once: answers per second", f"{count / took:.1f}", ""),
        (f"  all ended (the model writes for {PIECES * PACE_SECONDS:.0f} s)", f"{took:.1f} s", ""),
        ("  from the model's piece to the client", spread(late), ""),
        ("  resident memory, idle and at most", f"{idle / 1e6:.0f} MB, {most / 1e6:.0f} MB", "400 MB at 200"),
    ]


async def _lateness(client: httpx2.AsyncClient, session: str, caller: Any) -> list[float]:
    """Follows an answer to its end; returns the delay of each delta. No event may be missing."""
    late, events = [], []
    async for event in message_events(client, session, caller):
        events.append(event)
        if event.event == "message_delta" and (stamps := json.loads(event.data)["text"].split()):
            late.append(time.monotonic() - float(stamps[0]))
    assert [event.id for event in events] == [f"1-{number + 1}" for number in range(len(events))]
    assert events[-1].event == "run_completed"
    return late


async def _turn(client: httpx2.AsyncClient, session: str) -> float:
    began = time.perf_counter()
    async for event in message_events(client, session, parent_id=None):
        assert event.event not in ("run_failed", "run_cancelled")
    return time.perf_counter() - began


async def stored(bench: Bench) -> list[Row]:
    """Measures the storage per turn while the model writes, in the first turn of a session and a later one."""
    waiting, over = asyncio.Event(), asyncio.Event()

    async def pace(_: int) -> None:
        waiting.set()
        await over.wait()

    sizes = []
    async with bench.process() as (_, client):
        session = (await client.post("/v1/sessions", json={"title": "t"})).json()["id"]
        for turn in range(LATER):
            held = turn in (0, LATER - 1)
            bench.world.pace = pace if held else None
            following = asyncio.create_task(_ended(client, session))
            if held:
                await waiting.wait()
                sizes.append(await bench.checkpoint_bytes())
                over.set()
            await following
            waiting.clear()
            over.clear()
        while left := await bench.checkpoint_bytes():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    bench.world.pace = None
    first, last = sizes
    return [
        (f"checkpoints in turn 1 and turn {LATER}", f"{first / 1e3:.1f} kB, {last / 1e3:.1f} kB", ""),
        ("  as a ratio", f"{last / first:.2f}", "1.5"),
        ("  after the end", f"{left} B", "0"),
    ]


async def _ended(client: httpx2.AsyncClient, session: str) -> None:
    names = [event.event async for event in message_events(client, session)]
    assert names[-1] == "run_completed", names


if __name__ == "__main__":
    for row in asyncio.run(conversations()):
        print(*row, sep="  ")
