"""A team at work on an embedded stack: BENCH_USERS (200) for BENCH_MINUTES (10).

An hour of it shows whether memory grows. Stores, services and load share the machine.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from api_calls import ask, ingest
from benchmarks.figures import Row, fresh, resident_bytes
from benchmarks.ingestion_figures import ABSENT, connected
from benchmarks.sizing import QUESTIONS, UNLIMITED, batches_of_pages, spent, used
from stack import EmbeddedStack
from team_at_work import Team, at_work

USERS, MINUTES = int(os.environ.get("BENCH_USERS", "200")), float(os.environ.get("BENCH_MINUTES", "10"))
THINKS_SECONDS = 20.0
SHARES = {"search": 60, "answer": 20, "sessions": 18, "upload": 2}
SAMPLES = 6


async def team(folder: Path) -> list[Row]:
    """Returns what a team that works waits for, and the memory of all processes meanwhile."""
    batches = batches_of_pages()
    if not batches:
        return ABSENT
    with EmbeddedStack.started(fresh(folder), **UNLIMITED) as stack:
        async with connected(stack) as http:
            await ingest(http, list(batches[0]))
            for question in QUESTIONS:
                await ask(http, question)
        memory = list[dict[str, int]]()

        async def measure() -> None:
            for _ in range(SAMPLES):
                memory.append(resident_bytes(stack))
                await asyncio.sleep(60 * MINUTES / SAMPLES)

        people = Team(USERS, [stack.api_key], list(map(str, batches[1])), QUESTIONS, SHARES, THINKS_SECONDS)
        before, began = used(stack), time.perf_counter()
        figures, _ = await asyncio.gather(at_work(people, stack.url, 60 * MINUTES), measure())
        cores = spent(stack, before) / (time.perf_counter() - began)
        memory.append(resident_bytes(stack))
    rows = [
        (f"{USERS} users for {MINUTES:g} min: {name}", f"p50 {median:.0f} ms, p95 {p95:.0f} ms", "")
        for name, (median, p95) in sorted(figures.milliseconds.items())
    ]
    rows.append(("  requests; errors", f"{figures.requests}; {sum(figures.errors.values())}", "0"))
    rows += [(f"  {error}"[:72], str(count), "0") for error, count in figures.errors.items()]
    rows.append(("  cores in use", f"{cores:.2f}", ""))
    return rows + _memory_rows(memory)


def _memory_rows(samples: Sequence[dict[str, int]]) -> list[Row]:
    rows = []
    for name in samples[0]:
        sizes = ", ".join(f"{sample[name] / 1e6:.0f}" for sample in samples)
        rows.append((f"  memory of {name}, {len(samples)} times", f"{sizes} MB", "flat"))
    total = ", ".join(f"{sum(sample.values()) / 1e9:.2f}" for sample in samples)
    return [*rows, (f"  of all, {len(samples)} times", f"{total} GB", "flat")]
