"""An OpenAI-compatible endpoint that returns scripted answers, passage by passage."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from served_apps import serving

NAME = re.compile(r"\b[A-Z]\w*[A-Z]\w*\b")


def facts(text: str) -> str:
    """Returns what a good model would: each name in capitals depends on the next one."""
    names = list(dict.fromkeys(NAME.findall(text)))
    relations = [
        {"source": one, "relation": "relies upon", "target": other, "sentence": 1} for one, other in pairwise(names)
    ]
    return json.dumps({"entities": [{"name": name, "type": "SERVICE"} for name in names], "relations": relations})


@dataclass
class ChatWorld:
    """The scripted model. `answers` maps a passage's text to the text of an answer, or to a status."""

    answers: Callable[[str], str | int] = facts
    # The usage that the endpoint reports; None reports none.
    usage: tuple[int, int] | None = (200, 50)
    # If set, the model waits for this before each answer.
    gate: asyncio.Event | None = None
    finish: str = "stop"
    retry_after: str = "0"
    asked: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        text = "\n".join(body["messages"][1]["content"].splitlines()[1:-1])
        self.bodies.append(body)
        self.asked.append(text)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.gate is not None:
                await self.gate.wait()
            said = self.answers(text)
        finally:
            self.at_once -= 1
        if isinstance(said, int):
            return JSONResponse({"error": {"message": "no"}}, said, {"Retry-After": self.retry_after})
        return StreamingResponse(self._written(said), media_type="text/event-stream")

    async def _written(self, said: str) -> AsyncIterator[str]:
        yield _event({"choices": [{"index": 0, "delta": {"content": said}, "finish_reason": None}]})
        yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]})
        if self.usage:
            given, written = self.usage
            yield _event({"choices": [], "usage": {"prompt_tokens": given, "completion_tokens": written}})
        yield "data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


@asynccontextmanager
async def served(world: ChatWorld) -> AsyncIterator[ChatWorld]:
    app = FastAPI()
    app.add_api_route("/v1/chat/completions", world.answer, methods=["POST"], response_model=None)
    async with serving(app) as url:
        world.url = f"{url}/v1"
        yield world
