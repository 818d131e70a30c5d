"""What the servers of chat models tell of themselves, in the forms in which each of them does."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from inference.capabilities import Known, ReportedCapabilities, SetCapabilities
from inference.errors import ContextTooLong
from inference.provider import Provider, Timeouts
from inference.refusals import Refusals


class Told:
    """The replies by path; every other path is not found."""

    def __init__(self) -> None:
        self.replies: dict[str, Any] = {}
        self.asked: list[str] = []
        self.url = ""

    async def answer(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        reply = self.replies.get(request.url.path)
        return JSONResponse({}, 404) if reply is None else JSONResponse(reply)


@pytest.fixture
async def server(serve) -> AsyncIterator[Told]:
    server = Told()
    app = Starlette(routes=[Route("/{path:path}", server.answer, methods=["GET", "POST"])])
    async with serve(app) as server.url:
        yield server


@pytest.fixture
async def asking(server) -> AsyncIterator[ReportedCapabilities]:
    provider = Provider(server.url, None, Timeouts(connect=30, read=60))
    yield ReportedCapabilities(provider)
    await provider.aclose()


OPENROUTER = {
    "id": "m",
    "context_length": 131_072,
    "supported_parameters": ["tools", "reasoning"],
    "architecture": {"input_modalities": ["text", "image"]},
}


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        (
            {"/v1/models": {"data": [{"id": "other"}, OPENROUTER]}},
            {"context_tokens": 131_072, "tools": True, "schema": False, "vision": True, "thinking": True},
        ),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 32_768}]}}, {"context_tokens": 32_768}),
        (
            {
                "/v1/models": {"data": [{"id": "m"}]},
                "/props": {
                    "default_generation_settings": {"n_ctx": 4_096},
                    "modalities": {"vision": False},
                    "chat_template_caps": {"supports_tools": True},
                },
            },
            {"context_tokens": 4_096, "vision": False, "tools": True},
        ),
        (
            {
                "/v1/models": {"data": [{"id": "m"}]},
                "/api/show": {
                    "parameters": "stop x\nnum_ctx                        2048",
                    "model_info": {"llama.context_length": 131_072},
                    "capabilities": ["completion", "vision"],
                },
            },
            {"context_tokens": 2_048, "tools": False, "vision": True, "thinking": False},
        ),
        (
            {
                "/api/v1/models": {
                    "models": [
                        {
                            "key": "m",
                            "max_context_length": 40_960,
                            "loaded_instances": [{"config": {"context_length": 8_000}}],
                            "capabilities": {"vision": True, "trained_for_tool_use": False},
                        }
                    ]
                }
            },
            {"context_tokens": 8_000, "vision": True, "tools": False},
        ),
    ],
    ids=["OpenRouter", "vLLM", "llama.cpp", "Ollama", "LM Studio"],
)
async def test_capabilities_are_read_from_each_kind_of_server(server, asking, replies, expected) -> None:
    server.replies = replies
    known = await asking.of("m")
    names = ("context_tokens", "tools", "schema", "vision", "thinking")
    got = {name: value for name in names if (value := getattr(known, name)) is not None}
    assert got == {name: Known(value, "told") for name, value in expected.items()}
    asked = len(server.asked)
    assert await asking.of("m") == known
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    "reply",
    [{}, [], {"data": 1}, {"data": [{"id": "m", "context_length": -1}]}, {"data": [{"id": "m", "max_model_len": "x"}]}],
)
async def test_defaults_are_assumed_when_the_server_reports_nothing(server, asking, reply) -> None:
    server.replies = dict.fromkeys(("/v1/models", "/props", "/api/show", "/api/v1/models"), reply)
    assert (await asking.of("m")).context_tokens == Known(8_192, "assumed")


async def test_rejected_parameters_are_remembered_and_manual_settings_win(asking) -> None:
    refusals = Refusals()
    refusals.learn(ContextTooLong("This model's maximum context length is 4,096 tokens.", status=400), {})
    learned = (await asking.of("m")).with_learned(refusals)
    assert learned.context_tokens == Known(4_096, "learned")
    assert learned.with_set(SetCapabilities(context_tokens=2_000)).context_tokens == Known(2_000, "set")
