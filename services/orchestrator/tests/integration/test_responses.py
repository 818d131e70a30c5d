"""Responses as the `openai` SDK asks for them."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

ASKED = "How long are tokens valid?"
ANSWER = "Tokens expire after fifteen minutes [1]. Also."


async def events_of(stream: Any) -> list[dict[str, Any]]:
    return [event.to_dict() async for event in stream]


async def test_a_response_names_its_sources(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    world.usage = {"prompt_tokens": 70, "completion_tokens": 9}
    async with start(model_settings) as service, sdk(service) as client:
        response = await client.responses.create(
            model="attractor", input=ASKED, instructions="Speak like a pirate.", metadata={"mine": "4"}
        )
        read = await client.responses.retrieve(response.id)
        run = await service.run(response.model_extra["run_id"])
        listed = (await service.client.get("/v1/sessions")).json()["items"]
    (message,) = response.output
    (part,) = message.content
    file, link = part.annotations
    assert response.output_text == ANSWER
    assert (response.status, response.metadata, response.instructions) == (
        "completed",
        {"mine": "4"},
        "Speak like a pirate.",
    )
    assert (file.type, file.filename, file.index) == ("file_citation", "auth.md", ANSWER.index("[1]"))
    assert part.text[link.start_index : link.end_index] == "[1]"
    assert link.url.endswith(f"/v1/documents/{file.file_id}/original")
    assert response.usage.input_tokens == run["usage"]["input_tokens"] >= 70
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert run["status"] == "completed"
    assert read == response
    assert listed == []
    assert "Speak like a pirate." in world.chats[0]["messages"][0]["content"]


async def test_an_interrupted_stream_resumes_without_a_gap(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    world.thinking = "hmm"
    more = asyncio.Event()

    async def pace(at: int) -> None:
        if at > 0:
            await asyncio.wait_for(more.wait(), 120)

    world.pace = pace
    async with start(model_settings) as service, sdk(service) as client:
        stream = await client.responses.create(model="attractor", input=ASKED, stream=True, background=True)
        seen: list[dict[str, Any]] = []
        async for event in stream:
            seen.append(event.to_dict())
            if event.type == "response.output_text.delta":
                break
        await stream.close()
        response_id = seen[0]["response"]["id"]
        waiting = await client.responses.retrieve(response_id)
        more.set()
        rest = await events_of(
            await client.responses.retrieve(response_id, stream=True, starting_after=seen[-1]["sequence_number"])
        )
        whole = await events_of(await client.responses.retrieve(response_id, stream=True))
        nothing_new = await events_of(
            await client.responses.retrieve(response_id, stream=True, starting_after=whole[-1]["sequence_number"])
        )
    assert waiting.status == "in_progress"
    assert seen + rest == whole
    assert [event["sequence_number"] for event in whole] == list(range(len(whole)))
    assert [event["type"] for event in whole[:3]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
    ]
    reasoning, message = whole[-1]["response"]["output"]
    assert reasoning["content"] == [{"type": "reasoning_text", "text": "hmm"}]
    assert message["content"][0]["text"] == ANSWER
    deltas = [event["delta"] for event in whole if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == ANSWER
    noted = [event["annotation"] for event in whole if event["type"] == "response.output_text.annotation.added"]
    assert noted == message["content"][0]["annotations"]
    assert [event["type"] for event in nothing_new] == ["response.completed"]


async def test_the_streaming_helper_of_the_sdk_follows_a_response(start: Any, model_settings: Any, sdk: Any) -> None:
    async with (
        start(model_settings) as service,
        sdk(service) as client,
        client.responses.stream(model="attractor", input=ASKED) as stream,
    ):
        async for _ in stream:
            pass
        final = await stream.get_final_response()
    assert final.output_text == ANSWER


async def test_a_response_continues_or_branches_from_a_previous_one(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        first = await client.responses.create(model="attractor", input="Who issues tokens?")
        for question in ("How long are they valid?", "Who keeps the accounts?"):
            following = await client.responses.create(model="attractor", input=question, previous_response_id=first.id)
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.responses.create(model="attractor", input=ASKED, previous_response_id=f"resp_{'0' * 32}")
    assert following.previous_response_id == first.id
    asked = [chat["messages"][1:] for chat in world.chats if chat["messages"][-1]["content"].endswith("accounts?")]
    assert asked[0] == [
        {"role": "user", "content": "Who issues tokens?"},
        {"role": "assistant", "content": ANSWER},
        {"role": "user", "content": "Who keeps the accounts?"},
    ]
    assert (unknown.value.code, unknown.value.param) == ("response_not_found", "previous_response_id")


async def test_items_before_the_last_one_are_the_history(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    said: list[Any] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Who issues tokens?"},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "The AuthService.", "annotations": []}],
        },
        {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
    ]
    async with start(model_settings) as service, sdk(service) as client:
        await client.responses.create(model="attractor", input=said, temperature=0.5, max_output_tokens=77)
    sent = world.chats[0]
    assert "Be brief." in sent["messages"][0]["content"]
    assert [one["content"] for one in sent["messages"][1:]] == ["Who issues tokens?", "The AuthService.", ASKED]
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 77)


async def test_a_truncated_answer_is_incomplete(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    world.finish = "length"
    messages: Any = [{"role": "user", "content": ASKED}]
    async with start(model_settings) as service, sdk(service) as client:
        response = await client.responses.create(model="attractor", input=ASKED)
        plain = await client.responses.create(model="attractor-plain", input=ASKED)
        completion = await client.chat.completions.create(model="attractor", messages=messages)
        stream = await client.chat.completions.create(model="attractor", messages=messages, stream=True)
        reasons = [chunk.choices[0].finish_reason async for chunk in stream]
    assert response.output_text.startswith("Tokens expire after")
    for one in (response, plain):
        assert (one.status, one.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert one.output[0].status == "incomplete"
    assert completion.choices[0].finish_reason == reasons[-1] == "length"


async def test_a_background_response_can_be_cancelled(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    reached = asyncio.Event()

    async def pace(at: int) -> None:
        if at > 0:
            reached.set()
            await asyncio.Event().wait()

    world.pace = pace
    async with start(model_settings) as service, sdk(service) as client:
        started = await client.responses.create(model="attractor", input=ASKED, background=True)
        await asyncio.wait_for(reached.wait(), 120)
        with pytest.raises(openai.BadRequestError) as busy:
            await client.responses.create(model="attractor", input=ASKED, previous_response_id=started.id)
        await client.responses.cancel(started.id)
        events = await events_of(await client.responses.retrieve(started.id, stream=True))
        read = await client.responses.retrieve(started.id)
    assert started.status == "queued"
    assert busy.value.param == "previous_response_id"
    assert events[-1]["type"] == "response.cancelled"
    assert read.status == "cancelled"
    assert read.output_text.startswith("Tokens expire after")


async def test_a_client_disconnect_cancels_a_foreground_response(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    for streaming in (True, False):
        reached = asyncio.Event()

        async def pace(at: int, reached: asyncio.Event = reached) -> None:
            if at > 0:
                reached.set()
                await asyncio.Event().wait()

        world.pace, world.chats_cut = pace, 0
        async with start(model_settings) as service, sdk(service) as client:
            asked = asyncio.create_task(_followed(client, streaming))
            await asyncio.wait_for(reached.wait(), 120)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            async with asyncio.timeout(120):
                while not world.chats_cut:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)  # nothing tells when a model was left


async def _followed(client: AsyncOpenAI, streaming: bool) -> None:
    answer: Any = await client.responses.create(model="attractor", input=ASKED, stream=streaming)
    if streaming:
        async for _ in answer:
            pass


async def test_an_unstored_or_deleted_response_leaves_nothing_behind(start: Any, model_settings: Any, sdk: Any) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        kept = await client.responses.create(model="attractor", input=ASKED)
        following = await client.responses.create(model="attractor", input=ASKED, previous_response_id=kept.id)
        await client.responses.delete(kept.id)
        passing = await client.responses.create(model="attractor", input=ASKED, store=False)
        for gone in (kept, following):
            with pytest.raises(openai.NotFoundError) as missing:
                await client.responses.retrieve(gone.id)
        async with asyncio.timeout(120):
            while (await service.client.get(f"/v1/runs/{passing.model_extra['run_id']}")).status_code == 200:
                pass  # it is forgotten behind the answer
    assert missing.value.code == "response_not_found"


async def test_a_model_failure_is_a_failed_response(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    world.chat_status = 400
    async with start(model_settings) as service, sdk(service) as client:
        failed = await client.responses.create(model="attractor-plain", input=ASKED)
        events = await events_of(await client.responses.create(model="attractor-plain", input=ASKED, stream=True))
    assert (failed.status, failed.error.code, failed.output) == ("failed", "server_error", [])
    assert events[-1]["type"] == "response.failed"


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("tools", {"tools": [{"type": "web_search"}]}),
    ("conversation", {"conversation": "conv_1"}),
    ("text.format", {"text": {"format": {"type": "json_object"}}}),
    ("store", {"store": False, "background": True}),
    (
        "input.0.content.0.image_url",
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
    ),
    ("input.0", {"input": [{"role": "assistant", "content": "and"}]}),
    ("input.0.type", {"input": [{"type": "function_call_output", "call_id": "1", "output": "4"}]}),
    ("input", {"input": " "}),
    ("metadata.session_id", {"metadata": {"session_id": "mine"}}),
    ("previous_response_id", {"previous_response_id": "resp_1"}),
    ("temperature", {"temperature": 9}),
]


async def test_an_unsupported_parameter_is_refused_by_name(start: Any, settings: Any, sdk: Any) -> None:
    async with start(settings) as service, sdk(service) as client:
        for param, more in REFUSED:
            with pytest.raises(openai.BadRequestError) as refused:
                await client.responses.create(**{"model": "attractor", "input": ASKED, **more})
            assert refused.value.param == param, more
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.responses.create(model="gpt-4o", input=ASKED)
        quoted = await client.responses.create(model="attractor", input=ASKED, truncation="auto", reasoning={})
    assert unknown.value.code == "model_not_found"
    assert "“Tokens expire after fifteen minutes.” [1]" in quoted.output_text
    assert quoted.usage is None


async def test_a_response_of_another_user_is_not_found(
    start: Any, settings: Any, sdk: Any, other_user: dict[str, str]
) -> None:
    async with start(settings) as service, sdk(service) as client, sdk(service, other_user) as stranger:
        mine = await client.responses.create(model="attractor", input=ASKED)
        attempts = [
            lambda: stranger.responses.retrieve(mine.id),
            lambda: stranger.responses.retrieve(mine.id, stream=True),
            lambda: stranger.responses.cancel(mine.id),
            lambda: stranger.responses.delete(mine.id),
            lambda: stranger.responses.create(model="attractor", input=ASKED, previous_response_id=mine.id),
        ]
        for attempt in attempts:
            with pytest.raises(openai.NotFoundError):
                await attempt()
        assert (await client.responses.retrieve(mine.id)).status == "completed"


async def test_the_blocking_sdk_works_too(start: Any, model_settings: Any, auth_headers: Any) -> None:
    async with start(model_settings) as service:
        key = auth_headers()["Authorization"].removeprefix("Bearer ")

        def ask() -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
            with OpenAI(base_url=f"{service.client.base_url}/v1", api_key=key, max_retries=0, timeout=120) as client:
                whole = client.responses.create(model="attractor", input=ASKED)
                stream = client.responses.create(model="attractor", input=ASKED, stream=True, background=True)
                seen = [next(iter(stream)).to_dict()]
                stream.close()
                again = client.responses.retrieve(seen[0]["response"]["id"], stream=True, starting_after=0)
                seen += [event.to_dict() for event in again]
                uncut = client.responses.retrieve(seen[0]["response"]["id"], stream=True)
                return whole.output_text, seen, [event.to_dict() for event in uncut]

        whole, seen, uncut = await asyncio.to_thread(ask)
    assert whole == ANSWER
    assert seen == uncut
