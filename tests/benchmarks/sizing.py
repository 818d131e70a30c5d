"""What a deployment needs: processor time by operation, and throughput of replicas and workers.

BENCH_DOCUMENTS (40) and BENCH_SEARCHES (400) for each number of replicas.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import UUID

import httpx2
import psutil
from api_calls import ask, ingest
from benchmarks.figures import Row, fresh, spread
from benchmarks.ingestion_figures import ABSENT, PEPS, connected
from held_port import held_port
from pydantic import SecretStr
from stack import EmbeddedStack

from contracts.gateway import Role
from service_kit.auth import Principal
from service_kit.http_service import service_client
from service_kit.settings import TokenSettings
from service_kit.tokens import Tokens

REPLICAS = (1, 2, 4)
DOCUMENTS, SEARCHES = int(os.environ.get("BENCH_DOCUMENTS", "40")), int(os.environ.get("BENCH_SEARCHES", "400"))
CLIENTS = 16
UNLIMITED = {
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
    batches = batches_of_pages()
    if not batches:
        return ABSENT
    with EmbeddedStack.started(fresh(folder), **UNLIMITED) as stack:
        async with connected(stack) as http:
            rows = await _workers(stack, http, batches)
            rows += await _searches(stack, http)
            return rows + await _answers(stack, http)


def batches_of_pages() -> list[Sequence[Path]]:
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
            before, began = used(stack), time.perf_counter()
            documents = await ingest(http, list(pages))
            seconds = time.perf_counter() - began
        rows.append(
            (f"{len(documents)} documents, {count} workers of one slot", f"{DOCUMENTS / seconds:.2f} a second", "")
        )
        if count == 1:
            chunks = sum(int(str(one.get("chunk_count") or 0)) for one in documents.values())
            each = spent(stack, before) / len(documents)
            rows.append((f"processor time of one ({chunks / len(documents):.0f} chunks)", f"{each:.2f} s", ""))
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
            before, began = used(stack), time.perf_counter()
            seconds = await _asked(ports, tokens, caller)
            rate = SEARCHES / (time.perf_counter() - began)
            rows.append(
                (f"searches, {count} replicas, {CLIENTS} clients", f"{rate:.0f} a second, {spread(seconds)}", "")
            )
            if count == 1:
                rows.append(("processor time of one", f"{1000 * spent(stack, before) / SEARCHES:.0f} ms", ""))
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
    before = used(stack)
    for question in QUESTIONS:
        await ask(http, question)
    each = spent(stack, before) / len(QUESTIONS)
    return [("processor time of an extractive answer, with memory", f"{each:.2f} s", "")]


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


def used(stack: EmbeddedStack) -> dict[int, float]:
    """Returns the seconds that each process has used, with its children that have ended."""
    used = {}
    for process in _all(stack):
        with suppress(psutil.NoSuchProcess):  # a conversion that has ended
            used[process.pid] = sum(process.cpu_times()[:4])
    return used


def spent(stack: EmbeddedStack, before: dict[int, float]) -> float:
    """Returns the seconds of all processes since then."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in used(stack).items())
