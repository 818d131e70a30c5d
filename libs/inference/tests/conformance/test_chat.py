"""What every ChatModel must do, against a scripted server that speaks the OpenAI API."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from inference.breaker import CircuitBreaker
from inference.chat import AnswerSchema, ChatDelta, ChatMessage, Completion, Usage
from inference.endpoints import Endpoint
from inference.errors import (
    ChatError,
    CircuitOpen,
    ContextTooLong,
    ProviderRejected,
    ProviderUnavailable,
    StreamCut,
    UnreadableReply,
)
from inference.openai_chat import OpenAIChat
from inference.provider import Provider, Timeouts
from inference.retry import RetryPolicy

HELLO = [ChatMessage("system", "Be short."), ChatMessage("user", "Hello \ud800")]
KEY = "sk-very-secret"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def chat(provider, clock, patience) -> AsyncIterator[OpenAIChat]:
    model = OpenAIChat(
        Endpoint(
            Provider(provider.base_url, KEY, Timeouts(connect=30, read=patience)),
            CircuitBreaker(failures=2, reset_seconds=30, clock=clock),
        ),
        "tiny",
        max_tokens=100,
        retry=RetryPolicy(attempts=3, first_seconds=0.01),
    )
    yield model
    await model.aclose()


async def deltas(chat: OpenAIChat) -> list[ChatDelta]:
    return [delta async for delta in chat.stream(HELLO)]


async def test_the_answer_streams_in_order(chat, provider, script) -> None:
    provider.replies = [script.reply(events=[script.said(word) for word in ["a", "b", "c"]] + [script.stop])]
    assert await deltas(chat) == [*map(ChatDelta, "abc"), ChatDelta(finish_reason="stop")]
    request = provider.asked[0]
    assert request["messages"][1] == {"role": "user", "content": "Hello ?"}
    assert (request["model"], request["max_tokens"], request["temperature"]) == ("tiny", 100, 0.2)
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_deltas_arrive_before_the_answer_is_complete(chat, provider, script) -> None:
    provider.replies = [script.reply(events=[script.said("first")], hangs=True)]
    async with aclosing(chat.stream(HELLO)) as stream:
        assert await anext(stream) == ChatDelta("first")


async def test_thinking_is_separated_from_the_answer(chat, provider, script) -> None:
    provider.replies = [
        script.reply(events=[script.said(reasoning_content="hm"), script.said(reasoning="so"), script.said("Yes")])
    ]
    assert await deltas(chat) == [ChatDelta(thinking="hm"), ChatDelta(thinking="so"), ChatDelta("Yes")]


async def test_thinking_inside_the_content_is_separated_from_the_answer(chat, provider, script) -> None:
    pieces = ["<th", "ink>h", "m</thi", "nk>\n", "\nYes, <think> is a tag"]
    provider.replies = [script.reply(events=[script.said(piece) for piece in pieces] + [script.stop])] * 2
    got = await deltas(chat)
    assert "".join(delta.thinking for delta in got) == "hm"
    assert "".join(delta.text for delta in got) == "Yes, <think> is a tag"
    assert await chat.complete(HELLO) == "Yes, <think> is a tag"


async def test_retries_while_nothing_has_been_received(chat, provider, script) -> None:
    provider.replies = [
        script.reply(503, {"error": "busy"}),
        script.reply(events=[], breaks=True),
        script.reply(events=[script.said("ok"), script.stop]),
    ]
    assert await chat.complete(HELLO) == "ok"
    assert len(provider.asked) == 3


@pytest.mark.parametrize(
    ("ending", "patience"),
    [({"done": False}, 60.0), ({"breaks": True}, 60.0), ({"hangs": True}, 2.0)],
    indirect=["patience"],
)
async def test_a_truncated_stream_is_an_error_and_is_not_retried(chat, provider, script, ending) -> None:
    provider.replies = [script.reply(events=[script.said("half")], **ending), script.reply(events=[script.stop])]
    async with aclosing(chat.stream(HELLO)) as stream:
        assert await anext(stream) == ChatDelta("half")
        with pytest.raises(StreamCut):
            await anext(stream)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("breaks", [False, True])
async def test_a_stream_cut_at_any_byte_is_an_error_or_complete(provider, script, breaks) -> None:
    events = [script.said("Grüße "), script.said("🙂 "), script.said("<think"), script.stop]
    *_, ending = sent = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events]
    size, whole = sum(map(len, sent)), "Grüße 🙂 <think"
    endpoint = Endpoint(
        Provider(provider.base_url, None, Timeouts(connect=30, read=60)), CircuitBreaker(failures=10_000)
    )
    chat = OpenAIChat(endpoint, "tiny", retry=RetryPolicy(attempts=1))
    for at in range(size + 1):
        provider.replies = [script.reply(events=events, cut_at=at, done=False, breaks=breaks)]
        text, error = "", None
        try:
            async for delta in chat.stream(HELLO):
                text += delta.text
        except StreamCut as cut:
            error = cut
        assert whole.startswith(text), at
        assert (error is None) == (text == whole), at
        assert error or at > size - len(ending), at
    await chat.aclose()


async def test_a_finish_reason_ends_the_stream(chat, provider, script) -> None:
    provider.replies = [script.reply(events=[script.said("whole"), script.stop], done=False)]
    assert await chat.complete(HELLO) == "whole"


async def test_an_error_inside_the_stream_is_raised(chat, provider, script) -> None:
    provider.replies = [
        script.reply(events=[script.said("half"), {"error": {"message": "overloaded", "code": 503}}]),
        script.reply(events=[script.said("half"), {"error": {"message": "forbidden", "code": 403}}]),
    ]
    with pytest.raises(StreamCut, match="overloaded"):
        await chat.complete(HELLO)
    with pytest.raises(ProviderRejected, match="forbidden"):
        await chat.complete(HELLO)


async def test_a_rejection_is_not_retried_and_hides_the_key(chat, provider, script) -> None:
    provider.replies = [script.reply(401, {"error": {"message": f"Incorrect API key: {KEY}"}})]
    with pytest.raises(ProviderRejected, match="Incorrect API key") as raised:
        await chat.complete(HELLO)
    assert raised.value.status == 401
    assert KEY not in str(raised.value)
    assert len(provider.asked) == 1


async def test_an_exceeded_context_length_is_reported_as_such(chat, provider, script) -> None:
    provider.replies = [
        script.reply(400, {"error": {"message": "no", "code": "context_length_exceeded"}}),
        script.reply(400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}),
    ]
    for _ in range(2):
        with pytest.raises(ContextTooLong):
            await chat.complete(HELLO)


async def test_a_parameter_the_model_rejects_is_omitted_from_then_on(chat, provider, script) -> None:
    """Uses the error messages of OpenAI's API."""
    refusals = [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
    ]
    whole = script.reply(events=[script.said("ok"), script.stop])
    provider.replies = [script.reply(400, {"error": {"message": message}}) for message in refusals] + [whole] * 2
    assert [await chat.complete(HELLO), await chat.complete(HELLO)] == ["ok", "ok"]
    assert len(provider.asked) == 4
    assert provider.asked[3].keys() == {"model", "messages", "stream", "stream_options", "max_completion_tokens"}


@pytest.mark.parametrize("reply", [{"body": {"choices": []}}, {"events": ["text"]}, {"events": [{"choices": [1]}]}])
async def test_a_malformed_response_is_reported(chat, provider, script, reply) -> None:
    provider.replies = [script.reply(**reply)]
    with pytest.raises(UnreadableReply) as raised:
        await chat.complete(HELLO)
    assert isinstance(raised.value, ChatError)


async def test_the_circuit_opens_and_recovers(chat, provider, script, clock) -> None:
    provider.replies = [script.reply(500, {})] * 6
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await chat.complete(HELLO)
    with pytest.raises(CircuitOpen):
        await chat.complete(HELLO)
    assert len(provider.asked) == 6
    clock.now = 31
    provider.replies = [script.reply(events=[script.said("back"), script.stop])] * 2
    assert await chat.complete(HELLO) == "back"
    assert await chat.complete(HELLO) == "back"


async def test_a_probe_that_gets_a_response_admits_others_before_it_ends(chat, provider, script, clock) -> None:
    provider.replies = [script.reply(500, {})] * 6
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await chat.complete(HELLO)
    clock.now = 31
    provider.replies = [
        script.reply(events=[script.said("slow")], hangs=True),
        script.reply(events=[script.said("other"), script.stop]),
    ]
    async with aclosing(chat.stream(HELLO)) as probe:
        assert await anext(probe) == ChatDelta("slow")
        assert await chat.complete(HELLO) == "other"


SCHEMA = AnswerSchema("facts", {"type": "object"})


async def test_a_structured_answer_reports_its_usage(chat, provider, script) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}
    provider.replies = [script.reply(events=[script.said('{"a"'), script.said(": 1}"), script.stop, usage])]
    answer = await chat.complete_structured(HELLO, SCHEMA, max_tokens=50)
    assert answer == Completion('{"a": 1}', Usage(12, 3))
    request = provider.asked[0]
    assert request["response_format"]["json_schema"] == {"name": "facts", "strict": True, "schema": {"type": "object"}}
    assert (request["max_tokens"], request["temperature"]) == (50, 0.0)


async def test_an_answer_stopped_by_the_token_limit_says_so(chat, provider, script) -> None:
    bounded = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    provider.replies = [script.reply(events=[script.said('{"a'), bounded])]
    assert await chat.complete_structured(HELLO, SCHEMA, max_tokens=50) == Completion('{"a', None, True)


async def test_a_response_format_the_provider_rejects_is_omitted_from_then_on(chat, provider, script) -> None:
    refusals = ["Unknown field: stream_options", "This response_format type is unavailable now"]
    whole = script.reply(events=[script.said("{}"), script.stop])
    provider.replies = [script.reply(400, {"error": {"message": message}}) for message in refusals] + [whole] * 2
    for _ in range(2):
        assert (await chat.complete_structured(HELLO, SCHEMA, max_tokens=50)).text == "{}"
    assert len(provider.asked) == 4
    assert not provider.asked[3].keys() & {"stream_options", "response_format"}


async def test_the_models_of_the_server_are_listed(chat, provider, script) -> None:
    provider.replies = [script.reply(body={"data": [{"id": "tiny"}, {"id": "large"}]})]
    assert await chat.list_models() == ["tiny", "large"]
