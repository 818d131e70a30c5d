"""A chat model that writes what the question tells it to, and a workspace that uses it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from api_calls import client, new_tenant
from benchmarks.scripted_endpoint import serving
from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

ROUTING, TITLE = "Decide what the user's message asks for", "Give this conversation a title"
COUNT = re.compile(r"Count to (\d{1,4})")
EXACTLY = "Write exactly:"
WORDS_A_SECOND = 25
HELD_AFTER = 10  # words


def written(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the pieces of the answer: the numbers to count, or the text after "Write exactly:"."""
    instructions, question = str(messages[0]["content"]), str(messages[-1]["content"])
    if ROUTING in instructions + question:
        return ['{"route": "reply"}']
    if TITLE in instructions:
        return ["A scripted conversation"]
    if counted := COUNT.search(question):
        return [f"{number} " for number in range(1, int(counted[1]) + 1)]
    return [question.partition(EXACTLY)[2].strip() or "Nothing."]


async def completions(request: Request) -> Response:
    body = await request.json()
    pieces = written(body["messages"])
    if body.get("stream"):
        return StreamingResponse(_chunks(pieces, request.app.state), media_type="text/event-stream")
    message = {"role": "assistant", "content": "".join(pieces)}
    return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


async def models(_: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


async def hold(request: Request) -> Response:
    """Stops all answers after their first words, until they are released."""
    request.app.state.released = asyncio.Event()
    return Response()


async def release(request: Request) -> Response:
    request.app.state.released.set()
    return Response()


async def _chunks(pieces: list[str], state: State) -> AsyncIterator[str]:
    for index, piece in enumerate(pieces):
        while index == HELD_AFTER and "released" in state and not state.released.is_set():
            yield ": still there\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(state.released.wait(), 1)
        yield _event({"content": piece}, None)
        await asyncio.sleep(1 / WORDS_A_SECOND)  # the pace of a model, so that a test can interrupt it
    yield _event({}, "stop")
    yield "data: [DONE]\n\n"


def _event(delta: dict[str, str], reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


@contextmanager
def scripted_model() -> Iterator[str]:
    """Serves the model on a free port; yields its base URL."""
    routes = [
        Route("/v1/chat/completions", completions, methods=["POST"]),
        Route("/v1/models", models),
        *(Route(f"/v1/{act.__name__}", act, methods=["POST"]) for act in (hold, release)),
    ]
    with serving(routes) as url:
        yield f"{url}/v1"


async def workspace_with(model: str, url: str, admin_key: str) -> str:
    """Creates a workspace whose answers the model writes; returns its owner's key."""
    settings = {
        "providers.scripted.base_url": model,
        "providers.scripted.api_key": "unused",
        "roles.answer": [{"provider": "scripted", "model": "scripted"}],
    }
    async with client(url, admin_key) as admin, new_tenant(url, admin, "Scripted") as tenant:
        for name, value in settings.items():
            place = f"/v1/settings/{name}"
            (await tenant.http.put(place, params={"scope": "workspace"}, json={"value": value})).raise_for_status()
        return tenant.http.headers["authorization"].removeprefix("Bearer ")
