"""Overhead of the OpenAI-compatible routes: first token against the native stream, embeddings against the encoder."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
from api_calls import events_of
from benchmarks.chat_endpoint import chat_endpoint
from benchmarks.figures import Row, spread
from stack import EmbeddedStack

from inference.factory import build_embedders
from inference.settings import EmbeddingSettings

ROUNDS, WARM = 40, 3
ANSWERS, BATCH = 100, 25
TEXTS, EMBEDDED = 256, 3
QUESTION = "Which project depends on AuthService? ({number})"
NO_LIMITS = {
    name: "0"
    for scope in ("KEY", "WORKSPACE")
    for name in (f"REQUESTS_IN_FLIGHT_PER_{scope}", f"WAITS_IN_FLIGHT_PER_{scope}")
} | {"RATE_LIMIT_PER_MINUTE": "0"}


async def doors(folder: Path) -> list[Row]:
    """Measures first tokens alternately on one stack, then throughput of answers, then embeddings."""
    settings = {"CHAT_MODEL": "scripted", "CHAT_API_KEY": "none", **NO_LIMITS}
    with chat_endpoint() as url, EmbeddedStack.started(folder, CHAT_BASE_URL=url, **settings) as stack:
        headers = {"Authorization": f"Bearer {stack.api_key}"}
        limits = httpx2.Limits(max_connections=200)
        async with httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=240, limits=limits) as http:
            page = ("files", ("auth.md", b"# AuthService\n\nProjectAlpha depends on AuthService.\n"))
            upload = await http.post("/v1/documents", files=[page])
            identifier = upload.json()["files"][0]["document"]["id"]
            await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
            return [
                *await _first_tokens(http),
                *await _processor_time(http, stack),
                *await _answers_a_second(http),
                *await _embeddings(http),
            ]


async def _first_tokens(http: httpx2.AsyncClient) -> list[Row]:
    """Measures first tokens. Each route asks in a new session created beforehand, so the run is the same.

    The native stream is measured twice: its difference from itself is the noise of the machine. The order changes with
    each round, because work that follows an answer slows the next one.
    """
    ways = {
        "native stream": _native,
        "native stream again": _native,
        "chat completions": _chat,
        "responses": _responses,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS + WARM):
        names = list(ways)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            took[name].append(await ways[name](http, QUESTION.format(number=number), await _session(http)))
    native, *others = ((name, values[WARM:]) for name, values in took.items())
    rows: list[Row] = [(f"first token, {native[0]}", spread(native[1]), "")]
    for name, values in others:
        added = [through - alone for through, alone in zip(values, native[1], strict=True)]
        middle = 1000 * (statistics.median(values) - statistics.median(native[1]))
        rows.append((f"first token, {name}", spread(values), ""))
        rows.append((f"  added to the native stream, {name}", spread(added), "p95 10 ms"))
        rows.append((f"  difference of the medians, {name}", f"{middle:.1f} ms", ""))
    return rows


async def _processor_time(http: httpx2.AsyncClient, stack: EmbeddedStack) -> list[Row]:
    """Measures the CPU time of gateway and orchestrator per answer, which hardly depends on other load."""
    processes = [stack.processes()[name] for name in ("gateway", "orchestrator")]

    def used() -> float:
        return sum(sum(process.cpu_times()[:2]) for process in processes)

    took: dict[str, list[float]] = {"native stream": [], "chat completions": [], "responses": []}
    for turn in range(4):
        for name, way in zip(took, (_native, _chat, _responses), strict=True):
            sessions = [await _session(http) for _ in range(BATCH)]
            began = used()
            for number, session in enumerate(sessions):
                await way(http, QUESTION.format(number=f"{turn}.{number}"), session)
            took[name].append((used() - began) / BATCH)
    return [
        (f"processor time of an answer, {name}", f"{1000 * statistics.median(values):.0f} ms", "")
        for name, values in took.items()
    ]


async def _answers_a_second(http: httpx2.AsyncClient) -> list[Row]:
    """Measures streamed chat completions without a session, as most clients use them, read to their end."""
    rows: list[Row] = []
    for at_once in (1, 50):
        waiting = iter(range(ANSWERS))

        async def client(waiting: Iterator[int] = waiting) -> None:
            for number in waiting:
                await _chat(http, QUESTION.format(number=number))

        began = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(at_once)))
        rate = ANSWERS / (time.perf_counter() - began)
        rows.append((f"chat completions, {at_once} streams at once", f"{rate:.1f} a second", ""))
    return rows


async def _session(http: httpx2.AsyncClient) -> str:
    return str((await http.post("/v1/sessions", json={"title": "measured"})).json()["id"])


async def _native(http: httpx2.AsyncClient, question: str, session: str) -> float:
    began, first = time.perf_counter(), 0.0
    messages, headers = f"/v1/sessions/{session}/messages", {"Accept": "text/event-stream"}
    async with http.stream("POST", messages, json={"content": question}, headers=headers) as response:
        async for _, name, _ in events_of(response):
            if name == "message_delta" and not first:
                first = time.perf_counter() - began
    return first


async def _chat(http: httpx2.AsyncClient, question: str, session: str | None = None) -> float:
    body: dict[str, Any] = {"model": "attractor", "stream": True, "messages": [{"role": "user", "content": question}]}
    return await _first(http, "/v1/chat/completions", body, session)


async def _responses(http: httpx2.AsyncClient, question: str, session: str) -> float:
    return await _first(http, "/v1/responses", {"model": "attractor", "stream": True, "input": question}, session)


async def _first(http: httpx2.AsyncClient, path: str, body: dict[str, Any], session: str | None) -> float:
    """Returns the time of the first text delta; reads the stream to its end, which frees the worker."""
    if session is not None:
        body["metadata"] = {"session_id": session}
    began, first = time.perf_counter(), 0.0
    async with http.stream("POST", path, json=body) as response:
        async for line in response.aiter_lines():
            if not first and line.startswith("data: {") and _has_text(json.loads(line[6:])):
                first = time.perf_counter() - began
    return first


def _has_text(event: Mapping[str, Any]) -> bool:
    if event.get("type") == "response.output_text.delta":
        return True
    return bool(event.get("choices") and event["choices"][0]["delta"].get("content"))


async def _embeddings(http: httpx2.AsyncClient) -> list[Row]:
    """Compares the route with its encoder in this process, alternately, on passages of about 60 words."""
    texts = [f"{number}. " + "The router sends invoices every Monday to the accounts of the team. " * 5
             for number in range(TEXTS)]  # fmt: skip
    embedders = build_embedders(EmbeddingSettings(), background=True)
    await embedders.default.embed(texts[:8])
    await _embedded(http, texts[:8])
    alone, door = [], []
    for _ in range(EMBEDDED):
        began = time.perf_counter()
        for start in range(0, TEXTS, 16):
            await embedders.default.embed(texts[start : start + 16])
        alone.append(TEXTS / (time.perf_counter() - began))
        door.append(TEXTS / await _embedded(http, texts))
    await embedders.aclose()
    return [
        ("embeddings, the encoder alone", f"{statistics.median(alone):.0f} a second", ""),
        ("embeddings, POST /v1/embeddings, 256 texts", f"{statistics.median(door):.0f} a second", ""),
        ("  as a share of the encoder alone", f"{statistics.median(door) / statistics.median(alone):.2f}", "0.9"),
    ]


async def _embedded(http: httpx2.AsyncClient, texts: list[str]) -> float:
    began = time.perf_counter()
    response = await http.post(
        "/v1/embeddings", json={"model": "attractor", "input": texts, "encoding_format": "base64"}
    )
    response.raise_for_status()
    return time.perf_counter() - began
