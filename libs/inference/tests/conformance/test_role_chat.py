"""What a role's list of models does when one of them fails, against scripted endpoints."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest
from pydantic import BaseModel

from inference.breaker import CircuitBreaker
from inference.calls import CallEnd, ModelCall
from inference.capabilities import Capabilities, ReportedCapabilities, SetCapabilities
from inference.chat import ChatDelta, ChatMessage, ImagePart, TextPart, Tool, ToolCallDelta, Usage
from inference.endpoints import Endpoint, EndpointAddress, Endpoints
from inference.errors import CallRefused, CircuitOpen, ModelCannot, StreamCut, StructuredAnswerInvalid
from inference.openai_chat import OpenAIChat
from inference.provider import Provider, Timeouts
from inference.retry import RetryPolicy
from inference.role_chat import RoleCandidate, RoleChat
from inference.structured import structured

HELLO = [ChatMessage("user", "Hello")]
LONG = "word " * 60
USAGE = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


class KeptCalls:
    """Keeps calls; refuses them with `refuse`."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.refuse = False

    @asynccontextmanager
    async def metered(self, call: ModelCall) -> AsyncIterator[None]:
        if self.refuse:
            raise CallRefused("no budget")
        try:
            yield
        finally:
            self.calls.append(call)


class TellsNothing(ReportedCapabilities):
    """Makes no request, so that the script is not used up."""

    async def of(self, _: str) -> Capabilities:
        return Capabilities()


@pytest.fixture
def meter() -> KeptCalls:
    return KeptCalls()


@pytest.fixture
async def models(provider, meter, patience) -> AsyncIterator[RoleChat]:
    endpoints = [
        Endpoint(Provider(provider.base_url, None, Timeouts(connect=30, read=patience)), CircuitBreaker(failures=2))
        for _ in range(2)
    ]
    for endpoint in endpoints:
        endpoint.told = TellsNothing(endpoint.provider)
    retry = RetryPolicy(attempts=2, first_seconds=0.01)
    known = SetCapabilities(context_tokens=4_000)
    yield RoleChat(
        "answer",
        [
            RoleCandidate(name, OpenAIChat(endpoint, name, max_tokens=50, retry=retry), known)
            for name, endpoint in zip(("first", "second"), endpoints, strict=True)
        ],
        meter,
    )
    for endpoint in endpoints:
        await endpoint.aclose()


async def deltas_of(models: RoleChat, messages=HELLO) -> list[ChatDelta]:
    return [delta async for delta in models.stream(messages)]


def whole(script, text="ok", *more):
    return script.reply(events=[script.said(text), script.stop, *more])


@pytest.mark.parametrize(
    "fault", [{"status": 500, "body": {}}, {"status": 401, "body": {}}, {"events": [], "done": False}]
)
async def test_a_failure_before_the_first_token_falls_back_to_the_next_model_and_is_reported(
    models, provider, script, meter, fault
) -> None:
    provider.replies = [script.reply(**fault)] * (1 if fault.get("status") == 401 else 2) + [whole(script)]
    deltas = await deltas_of(models)
    assert deltas[0].issue.startswith("first of first failed, so second of second is asked: ")
    assert not deltas[0].restarted
    assert [delta.text for delta in deltas[1:]] == ["ok", ""]
    assert [(call.model, call.end) for call in meter.calls] == [
        ("first", CallEnd.failed if "status" in fault else CallEnd.cut),
        ("second", CallEnd.completed),
    ]


@pytest.mark.parametrize("patience", [2.0], indirect=True)
async def test_a_provider_that_hangs_is_abandoned(models, provider, script) -> None:
    provider.replies = [script.reply(events=[], hangs=True), whole(script)]
    assert [delta.text for delta in await deltas_of(models)][1:] == ["ok", ""]
    assert [request["model"] for request in provider.asked] == ["first", "second"]


async def test_a_requested_wait_before_a_retry_is_respected(models, provider, script) -> None:
    provider.replies = [script.reply(429, {}, {"Retry-After": "0"}), whole(script)]
    assert [delta.text for delta in await deltas_of(models)] == ["ok", ""]
    assert [request["model"] for request in provider.asked] == ["first", "first"]


async def test_a_short_partial_answer_is_voided_when_the_next_model_starts_over(models, provider, script) -> None:
    provider.replies = [script.reply(events=[script.said("half")], breaks=True), whole(script)]
    assert [(delta.text, delta.restarted) for delta in await deltas_of(models)] == [
        ("half", False),
        ("", True),
        ("ok", False),
        ("", False),
    ]


async def test_a_long_partial_answer_is_kept(models, provider, script, meter) -> None:
    provider.replies = [script.reply(events=[script.said(LONG)], breaks=True)]
    async with aclosing(models.stream(HELLO)) as deltas:
        assert await anext(deltas) == ChatDelta(LONG)
        with pytest.raises(StreamCut):
            await anext(deltas)
    assert len(provider.asked) == 1
    assert [(call.end, call.counted) for call in meter.calls] == [(CallEnd.cut, (Usage(6, 75), False))]


async def test_usage_is_counted_when_the_caller_disconnects(models, provider, script, meter) -> None:
    provider.replies = [script.reply(events=[script.said("1234")], hangs=True)]
    async with aclosing(models.stream(HELLO)) as deltas:
        await anext(deltas)
    assert [(call.end, call.written_tokens) for call in meter.calls] == [(CallEnd.cancelled, 1)]


async def test_usage_reported_by_the_provider_is_counted(models, provider, script, meter) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 1}}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.5, **details}
    provider.replies = [whole(script, "ok", {"choices": [], "usage": usage})]
    deltas = await deltas_of(models)
    assert deltas[-1] == ChatDelta(finish_reason="stop", usage=Usage(9, 4, 3, 1, 0.5))
    assert meter.calls[0].counted == (Usage(9, 4, 3, 1, 0.5), True)


async def test_a_call_refused_locally_reaches_no_provider(models, provider, meter) -> None:
    meter.refuse = True
    with pytest.raises(CallRefused):
        await deltas_of(models)
    assert provider.asked == []


async def test_an_open_circuit_is_skipped_at_once_with_a_reason(models, provider, script) -> None:
    provider.replies = [script.reply(500, {})] * 2 + [whole(script)] + [script.reply(500, {})] * 2 + [whole(script)] * 2
    await deltas_of(models)
    await deltas_of(models)
    deltas = await deltas_of(models)
    assert "is not called for a while: it is tried again in " in deltas[0].issue
    assert [request["model"] for request in provider.asked][-2:] == ["second", "second"]
    with pytest.raises(CircuitOpen):
        await models.candidates[0].chat.complete(HELLO)


async def test_a_silently_truncated_prompt_is_reported(models, provider, script) -> None:
    provider.replies = [whole(script, "ok", USAGE)]
    deltas = await deltas_of(models, [ChatMessage("user", "word " * 1_000)])
    assert deltas[-1].issue == ("first of first cut the prompt in silence: about 1254 tokens were sent, and it read 5")


async def test_deltas_of_tool_calls_keep_their_indices(models, provider, script) -> None:
    def call(**delta):
        return {"choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}]}

    named = call(index=1, id="c1", function={"name": "search", "arguments": '{"q'})
    provider.replies = [script.reply(events=[named, call(index=1, function={"arguments": '": 1}'}), script.stop])]
    tools = [Tool("search", "Finds", {"type": "object"})]
    deltas = [delta async for delta in models.stream(HELLO, tools=tools)]
    assert [delta.tool_calls for delta in deltas[:2]] == [
        (ToolCallDelta(1, "c1", "search", '{"q'),),
        (ToolCallDelta(1, "", "", '": 1}'),),
    ]
    assert provider.asked[0]["tools"][0]["function"]["name"] == "search"


SEEN = [ChatMessage("user", [TextPart("What is it?"), ImagePart("image/png", b"\x89PNG")])]


async def test_images_are_not_sent_to_a_model_known_to_lack_vision(models, provider, script) -> None:
    refusal = {"error": {"message": "image_url is not supported by this model"}}
    provider.replies = [script.reply(400, refusal), whole(script), whole(script)]
    await deltas_of(models, SEEN)
    again = await deltas_of(models, SEEN)
    assert again[0].issue.endswith("The model cannot do what is asked: it sees no images, as it has refused before")
    assert [request["model"] for request in provider.asked] == ["first", "second", "second"]
    image = provider.asked[0]["messages"][0]["content"][1]
    assert image == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}


async def test_without_a_vision_model_the_error_says_so(models, provider) -> None:
    blind = [RoleCandidate("p", one.chat, SetCapabilities(vision=False)) for one in models.candidates]
    with pytest.raises(ModelCannot, match="sees no images, as its setting says"):
        await deltas_of(RoleChat("vision", blind), SEEN)
    assert provider.asked == []


class Fact(BaseModel):
    subject: str
    count: int


async def test_a_structured_answer_is_parsed_and_its_schema_is_sent_twice(models, provider, script) -> None:
    provider.replies = [whole(script, 'Here: ```json\n{"subject": "Ada", "count": 2}\n```')]
    assert await structured(models, HELLO, Fact) == Fact(subject="Ada", count=2)
    request = provider.asked[0]
    assert request["response_format"]["json_schema"]["schema"]["required"] == ["subject", "count"]
    assert '"required": ["subject", "count"]' in request["messages"][-1]["content"]
    assert "tools" not in request


async def test_an_answer_that_violates_the_schema_is_repaired_once(models, provider, script) -> None:
    provider.replies = [whole(script, '{"subject": "Ada"}'), whole(script, '{"subject": "Ada", "count": 1}')]
    assert await structured(models, HELLO, Fact) == Fact(subject="Ada", count=1)
    assert "count: Field required" in provider.asked[1]["messages"][-1]["content"]


async def test_a_second_schema_violation_is_an_error_that_names_it(models, provider, script) -> None:
    provider.replies = [whole(script, "no"), whole(script, '{"subject": "Ada", "count": "many"}')]
    with pytest.raises(StructuredAnswerInvalid, match="Fact: count: Input should be a valid integer"):
        await structured(models, HELLO, Fact)


async def test_learned_capabilities_are_shared_by_all_users_of_an_endpoint(provider, script) -> None:
    refusal = script.reply(400, {"error": {"message": "Unknown field: stream_options"}})
    provider.replies = [refusal, whole(script), whole(script)]
    endpoints, address = Endpoints(), EndpointAddress(provider.base_url)
    for _ in range(2):
        async with endpoints.using(address) as endpoint:
            await OpenAIChat(endpoint, "tiny").complete(HELLO)
    assert len(provider.asked) == 3
    await endpoints.aclose()


async def test_an_unused_endpoint_is_closed_after_a_while(provider) -> None:
    now = 0.0
    endpoints = Endpoints(idle_seconds=10, clock=lambda: now)
    kept, other = EndpointAddress(provider.base_url, "a"), EndpointAddress(provider.base_url, "b")
    async with endpoints.using(kept) as endpoint:
        async with endpoints.using(other):
            now = 5.0
        now = 100.0
        async with endpoints.using(kept) as again:
            assert again is endpoint
        assert len(endpoints) == 1
    assert "'a'" not in repr(kept)
    await endpoints.aclose()


async def test_concurrent_callers_share_one_endpoint(provider, script) -> None:
    provider.replies = [whole(script) for _ in range(5)]
    endpoints, address = Endpoints(), EndpointAddress(provider.base_url)

    async def ask() -> str:
        async with endpoints.using(address) as endpoint:
            return await OpenAIChat(endpoint, "tiny").complete(HELLO)

    assert await asyncio.gather(*(ask() for _ in range(5))) == ["ok"] * 5
    assert len(endpoints) == 1
    await endpoints.aclose()
