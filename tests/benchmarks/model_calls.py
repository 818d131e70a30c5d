"""The cost of falling back to a role's next model, and of token accounting, in this process without our HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from uuid import uuid4

from benchmarks.chat_endpoint import chat_endpoint
from benchmarks.conversation_bench import Bench
from benchmarks.figures import Row, spread
from benchmarks.scripted_endpoint import serving
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from contracts.run_events import RunEventData
from embedded.ports import free_port
from inference.calls import CallEnd, ModelCall
from inference.chat import ChatDelta, ChatMessage, Usage
from inference.endpoints import Endpoint
from inference.openai_chat import OpenAIChat
from inference.provider import Provider, Timeouts
from inference.role_chat import RoleCandidate, RoleChat
from inference.settings import ChatSettings
from orchestrator.usage.metering import CallMeter
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.postgres import Database

FALLBACKS, CALLS = 10, 400
QUESTION = [ChatMessage("user", "Which project depends on AuthService?")]


async def model_calls() -> list[Row]:
    return [*await fallbacks(), *await accounting()]


async def fallbacks() -> list[Row]:
    """Measures the time from the question to the second model's first word, with default waits and timeouts.

    Endpoints are new each time, so no circuit is open, and all attempts of the first model are included.
    """
    routes = [Route(f"/{name}/chat/completions", kind, methods=["POST"]) for name, kind in FAULTS.items()]
    with serving(routes) as faulty, chat_endpoint() as sound:
        places = {
            "500": f"{faulty}/broken",
            "a refused connection": f"http://127.0.0.1:{free_port()}",
            "a hang": f"{faulty}/silent",
        }
        rows: list[Row] = []
        for name, place in places.items():
            times = 1 if name == "a hang" else FALLBACKS
            took = [await _fallback(place, sound) for _ in range(times)]
            rows.append((f"to the next model's first word after {name}", spread(took), ""))
        return rows


async def _fallback(first: str, second: str) -> float:
    defaults = ChatSettings()
    timeouts = Timeouts(connect=defaults.chat_connect_timeout_seconds, read=defaults.chat_timeout_seconds)
    endpoints = [Endpoint(Provider(url, None, timeouts)) for url in (first, second)]
    chat = RoleChat("answer", [RoleCandidate("operator", OpenAIChat(one, "scripted")) for one in endpoints])
    began = time.perf_counter()
    try:
        async with aclosing(chat.stream(QUESTION)) as deltas:
            async for delta in deltas:
                if delta.text:
                    return time.perf_counter() - began
    finally:
        for endpoint in endpoints:
            await endpoint.aclose()
    raise AssertionError("the second model answers")


async def _broken(_: Request) -> Response:
    return JSONResponse({"error": {"message": "broken"}}, 500)


async def _silent(_: Request) -> Response:
    return StreamingResponse(_nothing(), media_type="text/event-stream")


async def _nothing() -> AsyncIterator[str]:
    await asyncio.Event().wait()
    yield ""


FAULTS = {"broken": _broken, "silent": _silent}


async def accounting() -> list[Row]:
    """Measures reserving, settling and reporting an instant call with budgets of run, user, key and workspace."""
    told: list[RunEventData] = []
    limits = TokenLimits(*[10**9] * 4)
    async with Bench.opened() as bench:
        url = bench.settings.database_url.get_secret_value()
        async with Database(url, 4).opened() as database:
            meter = CallMeter(database, Spender(uuid4(), uuid4(), uuid4(), uuid4(), 1), limits, told.append)
            bare = CallMeter(database, Spender(uuid4(), uuid4(), uuid4(), uuid4(), 1), TokenLimits(), told.append)
            pairs = [(await _metered(meter), await _metered(bare)) for _ in range(CALLS + 20)][20:]
    return [
        ("accounting of a call, with four budgets", spread([with_four for with_four, _ in pairs]), "p95 5 ms"),
        ("accounting of a call, without budgets", spread([without for _, without in pairs]), "p95 5 ms"),
    ]


async def _metered(meter: CallMeter) -> float:
    call = ModelCall("answer", "operator", "scripted", 1_000, 100)
    began = time.perf_counter()
    async with meter.metered(call):
        call.note(ChatDelta("x", usage=Usage(900, 50)))
        call.end = CallEnd.completed
    return time.perf_counter() - began
