"""An OpenAI-compatible endpoint that answers instantly with a scripted, cited sentence, so only our latency remains."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from benchmarks.scripted_endpoint import serving
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

ROUTING = "Decide what the user's message asks for"
WORDS = ("ProjectAlpha ", "depends ", "on ", "AuthService ", "[1].")


async def completions(request: Request) -> Response:
    body = await request.json()
    words = ('{"route": "reply"}',) if any(ROUTING in str(one["content"]) for one in body["messages"]) else WORDS
    if not body.get("stream"):
        message = {"role": "assistant", "content": "".join(words)}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    return StreamingResponse(_chunks(words), media_type="text/event-stream")


async def models(_: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


async def _chunks(words: tuple[str, ...]) -> AsyncIterator[str]:
    for word in words:
        yield _event({"index": 0, "delta": {"content": word}, "finish_reason": None})
    yield _event({"index": 0, "delta": {}, "finish_reason": "stop"})
    yield "data: [DONE]\n\n"


def _event(choice: dict[str, object]) -> str:
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


@contextmanager
def chat_endpoint() -> Iterator[str]:
    """Serves the endpoint on a free port; yields its base URL."""
    routes = [Route("/v1/chat/completions", completions, methods=["POST"]), Route("/v1/models", models)]
    with serving(routes) as url:
        yield f"{url}/v1"
