"""What a deployment needs: processor time by operation, throughput of replicas and workers, and a team at work.

`sizing`: BENCH_DOCUMENTS (40) and BENCH_SEARCHES (400) for each number of replicas. `team`: BENCH_USERS (200) work for
BENCH_MINUTES (10); an hour of it shows whether memory grows.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psutil
from api_calls import ask, ingest
from benchmarks.figures import Row, fresh, resident_bytes, spread
from benchmarks.ingestion_figures import ABSENT, PEPS, connected
from held_port import held_port
from pydantic import SecretStr
from stack import EmbeddedStack

from contracts.gateway import Role
from service_kit.auth import Principal
from service_kit.http_service import service_client
from service_kit.settings import TokenSettings
from service_kit.tokens import Tokens

USERS, MINUTES = int(os.environ.get("BENCH_USERS", "200")), float(os.environ.get("BENCH_MINUTES", "10"))
THINKS_SECONDS = 20.0
REPLICAS = (1, 2, 4)
DOCUMENTS, SEARCHES = int(os.environ.get("BENCH_DOCUMENTS", "40")), int(os.environ.get("BENCH_SEARCHES", "400"))
CLIENTS, SAMPLES = 16, 6
SETTINGS = {
    "RATE_LIMIT_PER_MINUTE": "0",
    "REQUESTS_IN_FLIGHT_PER_KEY": "0",
    "REQUESTS_IN_FLIGHT_PER_WORKSPACE": "0",
    "WAITS_IN_FLIGHT_PER_KEY": "0",
    "WAITS_IN_FLIGHT_PER_WORKSPACE": "0",
    "MAX_CONNECTIONS_PER_ADDRESS": "2000",
    "SEARCH_CACHE": "false",
    "WORKER_CONCURRENCY": "1",
    "EMBEDDING_THREADS": "1",
}
QUESTIONS = (
    "What is the walrus operator?",
    "Who decides on a PEP?",
    "How are wheels named?",
    "What does PEP 8 say about line length?",
    "When was Python 2 retired?",
    "How do type hints affect speed?",
)


async def sizing(folder: Path) -> list[Row]:
    """Returns throughput by number of workers and of replicas of retrieval, and processor time by operation.

    Stores, services and load share the machine.
    """
    batches = _batches()
    if not batches:
        return ABSENT
    with EmbeddedStack.started(fresh(folder), **SETTINGS) as stack:
        async with connected(stack) as http:
            rows = await _workers(stack, http, batches)
            rows += await _searches(stack, http)
            return rows + await _answers(stack, http)


async def team(folder: Path) -> list[Row]:
    """Returns what a team that works sees, and the memory of all processes meanwhile."""
    batches = _batches()
    if not batches:
        return ABSENT
    with EmbeddedStack.started(fresh(folder), **SETTINGS) as stack:
        async with connected(stack) as http:
            await ingest(http, list(batches[0]))
            await _answers(stack, http)
        return await _team(stack, batches[1])


def _batches() -> list[Sequence[Path]]:
    """Returns the PEPs in batches of about the same length."""
    pages = sorted((PEPS / "t1").glob("*.rst"), key=lambda path: path.stat().st_size)[100:]
    number = len(pages) // DOCUMENTS
    return [pages[first::number][:DOCUMENTS] for first in range(number)]


async def _workers(stack: EmbeddedStack, http: httpx2.AsyncClient, batches: Sequence[Sequence[Path]]) -> list[Row]:
    rows = []
    for count, pages in zip(REPLICAS, batches, strict=False):
        with ExitStack() as more:
            for _ in range(count - 1):
                more.enter_context(_another(stack, "ingestion-worker", ["ingestion", "worker"]))
            before, began = _cpu(stack), time.perf_counter()
            documents = await ingest(http, list(pages))
            seconds = time.perf_counter() - began
        rows.append(
            (f"{len(documents)} documents, {count} workers of one slot", f"{DOCUMENTS / seconds:.2f} a second", "")
        )
        if count == 1:
            chunks = sum(int(str(one.get("chunk_count") or 0)) for one in documents.values())
            spent = _spent(stack, before) / len(documents)
            rows.append((f"processor time of one ({chunks / len(documents):.0f} chunks)", f"{spent:.2f} s", ""))
    return rows


async def _searches(stack: EmbeddedStack, http: httpx2.AsyncClient) -> list[Row]:
    me = (await http.get("/v1/me")).json()
    caller = Principal(UUID(me["user"]["id"]), UUID(me["workspace"]["id"]), Role.owner)
    environment = stack.processes()["gateway"].environ()
    tokens = Tokens(
        "gateway",
        TokenSettings(
            token_private_key=SecretStr(environment["TOKEN_PRIVATE_KEY"]),
            token_public_keys=environment["TOKEN_PUBLIC_KEYS"],
        ),
    )
    rows, first = [], int(stack.processes()["retrieval"].environ()["PORT"])
    for count in REPLICAS:
        with ExitStack() as more:
            ports = [first]
            for _ in range(count - 1):
                ports.append(more.enter_context(held_port()))
                more.enter_context(_another(stack, "retrieval", ["retrieval", "serve"], PORT=str(ports[-1])))
            seconds = await _asked(ports, tokens, caller)
            before, began = _cpu(stack), time.perf_counter()
            seconds = await _asked(ports, tokens, caller)
            rate = SEARCHES / (time.perf_counter() - began)
            rows.append(
                (f"searches, {count} replicas, {CLIENTS} clients", f"{rate:.0f} a second, {spread(seconds)}", "")
            )
            if count == 1:
                rows.append(("processor time of one", f"{1000 * _spent(stack, before) / SEARCHES:.0f} ms", ""))
    return rows


async def _asked(ports: Sequence[int], tokens: Tokens, caller: Principal) -> list[float]:
    seconds: list[float] = []
    numbers = iter(range(SEARCHES))
    async with service_client(timeout=120) as client:

        async def work() -> None:
            for number in numbers:
                body = {"query": f"{QUESTIONS[number % len(QUESTIONS)]} {number}"}
                headers = {"Authorization": f"Bearer {tokens.sign(caller, 'retrieval')}"}
                began = time.perf_counter()
                url = f"http://127.0.0.1:{ports[number % len(ports)]}/v1/search"
                while True:
                    try:
                        (await client.post(url, json=body, headers=headers)).raise_for_status()
                        break
                    except httpx2.ConnectError:
                        await asyncio.sleep(0.1)  # the replica is starting
                seconds.append(time.perf_counter() - began)

        await asyncio.gather(*(work() for _ in range(CLIENTS)))
    return seconds


async def _answers(stack: EmbeddedStack, http: httpx2.AsyncClient) -> list[Row]:
    before = _cpu(stack)
    for question in QUESTIONS:
        await ask(http, question)
    spent = _spent(stack, before) / len(QUESTIONS)
    return [("processor time of an extractive answer, with memory", f"{spent:.2f} s", "")]


async def _team(stack: EmbeddedStack, pages: Sequence[Path]) -> list[Row]:
    """People who think, search, ask, list and upload, each with a connection of their own."""
    seconds, errors = defaultdict[str, list[float]](list), 0
    ends, left = time.monotonic() + 60 * MINUTES, itertools.cycle(pages)
    chance = random.Random(7)
    before, memory = _cpu(stack), list[dict[str, int]]()

    async def measure() -> None:
        for _ in range(SAMPLES):
            memory.append(resident_bytes(stack))
            await asyncio.sleep(60 * MINUTES / SAMPLES)

    async def user() -> None:
        nonlocal errors
        async with connected(stack) as http:

            async def upload() -> None:
                path = next(left)
                files = [("files", (f"{uuid4()}-{path.name}", path.read_bytes() + str(uuid4()).encode()))]
                (await http.post("/v1/documents", files=files)).raise_for_status()

            async def search() -> None:
                (await http.post("/v1/search", json={"query": chance.choice(QUESTIONS)})).raise_for_status()

            async def sessions() -> None:
                (await http.get("/v1/sessions")).raise_for_status()

            async def answer() -> None:
                await ask(http, chance.choice(QUESTIONS))

            ways: list[Callable[[], Coroutine[Any, Any, None]]] = [search, answer, sessions, upload]
            while time.monotonic() < ends:
                await asyncio.sleep(chance.expovariate(1 / THINKS_SECONDS))
                [way] = chance.choices(ways, (60, 20, 18, 2))
                began = time.perf_counter()
                try:
                    await way()
                    seconds[way.__name__].append(time.perf_counter() - began)
                except (httpx2.HTTPError, AssertionError):
                    errors += 1

    await asyncio.gather(measure(), *(user() for _ in range(USERS)))
    memory.append(resident_bytes(stack))
    done = sum(map(len, seconds.values()))
    rows = [(f"{USERS} users for {MINUTES:g} min: {name}", spread(seconds[name]), "") for name in sorted(seconds)]
    rows.append(("  requests; errors", f"{done}; {errors}", "0"))
    rows.append(("  cores in use", f"{_spent(stack, before) / (60 * MINUTES):.2f}", ""))
    return rows + _memory_rows(memory)


def _memory_rows(samples: Sequence[dict[str, int]]) -> list[Row]:
    rows = []
    for name in samples[0]:
        sizes = ", ".join(f"{sample[name] / 1e6:.0f}" for sample in samples)
        rows.append((f"  memory of {name}, {len(samples)} times", f"{sizes} MB", "flat"))
    total = ", ".join(f"{sum(sample.values()) / 1e9:.2f}" for sample in samples)
    return [*rows, (f"  of all, {len(samples)} times", f"{total} GB", "flat")]


@contextmanager
def _another(stack: EmbeddedStack, name: str, module: Sequence[str], **changes: str) -> Iterator[None]:
    """Runs another process of a service, with the environment of the first."""
    held = ("PORT_FD", "PRIVATE_PORT", "PRIVATE_PORT_FD")
    environment = {key: value for key, value in stack.processes()[name].environ().items() if key not in held}
    process = subprocess.Popen(
        [sys.executable, "-m", *module],
        env={**environment, **changes},
        cwd=stack.folder.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def _all(stack: EmbeddedStack) -> Iterator[psutil.Process]:
    for process in stack.processes().values():
        yield process
        with suppress(psutil.NoSuchProcess):
            yield from process.children(recursive=True)


def _cpu(stack: EmbeddedStack) -> dict[int, float]:
    """Returns the seconds that each process has used, with its children that have ended."""
    used = {}
    for process in _all(stack):
        with suppress(psutil.NoSuchProcess):  # a conversion that has ended
            used[process.pid] = sum(process.cpu_times()[:4])
    return used


def _spent(stack: EmbeddedStack, before: dict[int, float]) -> float:
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in _cpu(stack).items())
