"""What the doors of the OpenAI API add: to the first token over the native stream, to the encoder over its vectors."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from api_calls import events_of
from benchmarks.chat_endpoint import chat_endpoint
from benchmarks.figures import Row, spread
from stack import EmbeddedStack

from inference.factory import build_embedders
from inference.settings import EmbeddingSettings

TURNS, WARM = 60, 5
TEXTS, ROUNDS = 256, 3
QUESTION = "Which project depends on AuthService? ({number})"


async def doors(folder: Path) -> list[Row]:
    """First tokens turn about on one stack, then vectors; each beside what there is without the door."""
    settings = {"CHAT_MODEL": "scripted", "CHAT_API_KEY": "none", "RATE_LIMIT_PER_MINUTE": "0"}
    with chat_endpoint() as url, EmbeddedStack.started(folder, CHAT_BASE_URL=url, **settings) as stack:
        headers = {"Authorization": f"Bearer {stack.api_key}"}
        async with httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=240) as http:
            return [*await _first_tokens(http), *await _embeddings(http)]


async def _first_tokens(http: httpx2.AsyncClient) -> list[Row]:
    page = ("files", ("auth.md", b"# AuthService\n\nProjectAlpha depends on AuthService.\n"))
    upload = await http.post("/v1/documents", files=[page])
    identifier = upload.json()["files"][0]["document"]["id"]
    await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
    took: dict[str, list[float]] = {"native": [], "chat": [], "responses": []}
    for number in range(TURNS + WARM):
        question = QUESTION.format(number=number)
        took["native"].append(await _native(http, question))
        took["chat"].append(await _chat(http, question))
        took["responses"].append(await _responses(http, question))
    native, chat, responses = (values[WARM:] for values in took.values())
    rows: list[Row] = [("first token, native stream (in a new session)", spread(native), "")]
    for name, values in (("chat completions", chat), ("responses", responses)):
        added = [through - alone for through, alone in zip(values, native, strict=True)]
        rows.append((f"first token, {name}", spread(values), ""))
        rows.append((f"  added to that of the native stream, {name}", spread(added), "p95 10 ms"))
        rows.append((f"  difference of the medians, {name}", _between(values, native), ""))
    return rows


def _between(values: list[float], others: list[float]) -> str:
    return f"{1000 * (statistics.median(values) - statistics.median(others)):.1f} ms"


async def _native(http: httpx2.AsyncClient, question: str) -> float:
    """A session is there before: the doors, too, ask with one request."""
    session = (await http.post("/v1/sessions", json={"title": "measured"})).json()["id"]
    began, first = time.perf_counter(), 0.0
    messages, headers = f"/v1/sessions/{session}/messages", {"Accept": "text/event-stream"}
    async with http.stream("POST", messages, json={"content": question}, headers=headers) as response:
        async for _, name, _ in events_of(response):
            if name == "message_delta" and not first:
                first = time.perf_counter() - began
    return first


async def _chat(http: httpx2.AsyncClient, question: str) -> float:
    body = {"model": "attractor", "stream": True, "messages": [{"role": "user", "content": question}]}
    return await _first(http, "/v1/chat/completions", body)


async def _responses(http: httpx2.AsyncClient, question: str) -> float:
    return await _first(http, "/v1/responses", {"model": "attractor", "stream": True, "input": question})


async def _first(http: httpx2.AsyncClient, path: str, body: Mapping[str, Any]) -> float:
    """Returns when the first piece of the text came; reads the stream to its end, which frees the worker."""
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
    """Passages of some 60 words: the door against the encoder that it has, in this process, turn about."""
    texts = [f"{number}. " + "The router sends invoices every Monday to the accounts of the team. " * 5
             for number in range(TEXTS)]  # fmt: skip
    embedders = build_embedders(EmbeddingSettings(), background=True)
    await embedders.default.embed(texts[:8])
    await _embedded(http, texts[:8])
    alone, door = [], []
    for _ in range(ROUNDS):
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
