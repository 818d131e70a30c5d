"""Chat completions as the `openai` SDK asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from service_kit.postgres import Database

ASKED = [{"role": "user", "content": "How long are tokens valid?"}]
ANSWER = "Tokens expire after fifteen minutes [1]. Also."
SOURCES = "\n\nSources:\n- [1] auth.md, Services > Tokens, lines 3-5: “Tokens expire after fifteen minutes.”"


@pytest.fixture
def counted(settings: Any, workspace_id: UUID) -> Callable[..., Any]:
    """`await counted("session", "run")`: how many rows there are in each table."""

    async def count(*tables: str) -> list[int]:
        database = Database(settings.database_url.get_secret_value(), 1)
        async with database.opened(), database.workspace(workspace_id) as connection:
            found = [await connection.execute(f"SELECT count(*) FROM {table}".encode()) for table in tables]
            rows = [await one.fetchone() for one in found]
        return [row[0] for row in rows if row is not None]

    return count


async def test_an_answer_names_its_sources(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    world.thinking = "hmm"
    async with start(model_settings) as service, sdk(service) as client:
        completion = await client.chat.completions.create(model="attractor", messages=ASKED)
        listed = (await service.client.get("/v1/sessions")).json()["items"]
        runs = (await service.client.get("/v1/runs")).json()["items"]
    (choice,) = completion.choices
    assert choice.message.content == ANSWER + SOURCES
    assert choice.finish_reason == "stop"
    assert choice.message.model_extra["reasoning_content"] == "hmm"
    (citation,) = choice.message.model_extra["citations"]
    assert citation["quote"] == "Tokens expire after fifteen minutes."
    (annotation,) = choice.message.annotations
    marker = annotation.url_citation
    assert choice.message.content[marker.start_index : marker.end_index] == "[1]"
    assert marker.url.endswith(f"/v1/documents/{citation['document_id']}/original")
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens > 0
    assert completion.id == f"chatcmpl-{completion.model_extra['run_id'].replace('-', '')}"
    assert (listed, runs) == ([], [])


async def test_a_stream_has_the_format_of_the_openai_api(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    world.thinking = "hmm"
    async with start(model_settings) as service, sdk(service) as client:
        stream = await client.chat.completions.create(model="attractor", messages=ASKED, stream=True)
        # A client that never asked for usage reads the first choice of each chunk.
        deltas = [(chunk.choices[0].delta, chunk.choices[0].finish_reason, chunk.id) async for chunk in stream]
        lines = [line async for line in _lines(service, {"model": "attractor", "messages": ASKED, "stream": True})]
    assert (deltas[0][0].role, deltas[0][0].content) == ("assistant", "")
    assert deltas[1][0].model_extra["reasoning_content"] == "hmm"
    assert "".join(delta.content or "" for delta, _, _ in deltas) == ANSWER + SOURCES
    assert [reason for _, reason, _ in deltas] == [None] * (len(deltas) - 1) + ["stop"]
    assert len({chunk_id for _, _, chunk_id in deltas}) == 1
    extra = deltas[-2][0].model_extra
    assert [citation["number"] for citation in extra["citations"]] == [1]
    assert [one["url_citation"]["start_index"] for one in extra["annotations"]] == [ANSWER.index("[1]")]
    assert lines[-1] == "data: [DONE]"
    assert ": Searching the documents" in lines
    assert not [line for line in lines if not line.startswith(("data: ", ":"))]


async def _lines(service: Any, body: dict[str, Any]) -> AsyncIterator[str]:
    async with service.client.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.aiter_lines():
            if line:
                yield line


async def test_usage_is_a_separate_chunk_if_requested(start: Any, model_settings: Any, sdk: Any) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        stream = await client.chat.completions.create(
            model="attractor", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        *chunks, last = [chunk async for chunk in stream]
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens > 0
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


async def test_the_messages_in_the_request_are_the_history(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    said = [
        {"role": "system", "content": "Speak like a pirate."},
        {"role": "user", "content": "Who issues tokens?"},
        {"role": "assistant", "content": f"The AuthService [1].{SOURCES}"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "How long"}, {"type": "text", "text": "are they valid?"}],
        },
    ]
    async with start(model_settings) as service, sdk(service) as client:
        await client.chat.completions.create(
            model="attractor", messages=said, temperature=0.7, max_tokens=99, seed=4, extra_body={"unknown": {"a": 1}}
        )
    (sent,) = world.chats  # neither a title nor a summary is written of it
    assert "Speak like a pirate." in sent["messages"][0]["content"]
    assert sent["messages"][1:] == [
        {"role": "user", "content": "Who issues tokens?"},
        {"role": "assistant", "content": "The AuthService [1]."},
        {"role": "user", "content": "How long\nare they valid?"},
    ]
    assert (sent["temperature"], sent["max_tokens"]) == (0.7, 99)
    assert world.searches[0][0]["query"] == "How long\nare they valid?"


async def test_question_and_answer_are_stored_in_a_named_session(start: Any, model_settings: Any, sdk: Any) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        session = await service.session()
        for text in ("Who issues tokens?", "How long are tokens valid?"):
            await client.chat.completions.create(
                model="attractor",
                messages=[{"role": "user", "content": text}],
                metadata={"session_id": session, "footnotes": "false"},
            )
        kept = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        with pytest.raises(openai.NotFoundError) as refused:
            await client.chat.completions.create(
                model="attractor", messages=ASKED, metadata={"session_id": "00000000-0000-4000-8000-000000000001"}
            )
        with pytest.raises(openai.BadRequestError) as wrong:
            await client.chat.completions.create(model="attractor", messages=ASKED, metadata={"session_id": "mine"})
    assert [message["content"] for message in kept] == [
        "Who issues tokens?",
        ANSWER,
        "How long are tokens valid?",
        ANSWER,
    ]
    assert refused.value.code == "session_not_found"
    assert wrong.value.param == "metadata.session_id"


async def test_background_requests_of_front_ends_are_answered_without_documents(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    world.answer = ['{"tags": ["auth"], "count": [1]}']
    tasks = [
        {"model": "attractor", "messages": ASKED, "extra_body": {"metadata": {"task": "title_generation"}}},
        {"model": "attractor", "messages": [{"role": "user", "content": "### Task:\nGenerate 1-3 tags"}]},
        {"model": "attractor-plain", "messages": ASKED},
    ]
    async with start(model_settings) as service, sdk(service) as client:
        answers = [await client.chat.completions.create(**task) for task in tasks]
        stream = await client.chat.completions.create(**tasks[1], stream=True)
        streamed = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert {answer.choices[0].message.content for answer in answers} | {streamed} == set(world.answer)
    assert world.searches == []
    assert world.chats[-1]["messages"] == [{"role": "user", "content": "### Task:\nGenerate 1-3 tags"}]


async def test_without_a_chat_model_the_documents_are_quoted(start: Any, settings: Any, sdk: Any) -> None:
    async with start(settings) as service, sdk(service) as client:
        listed = [model.id async for model in client.models.list()]
        completion = await client.chat.completions.create(model="attractor", messages=ASKED)
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.chat.completions.create(model="attractor-plain", messages=ASKED)
        with pytest.raises(openai.BadRequestError) as task:
            await client.chat.completions.create(
                model="attractor", messages=[{"role": "user", "content": "### Task: name this"}]
            )
    assert listed == ["attractor"]
    assert "“Tokens expire after fifteen minutes.” [1]" in completion.choices[0].message.content
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    assert task.value.code == "no_chat_model"


async def test_models_can_be_listed_and_read(start: Any, model_settings: Any, sdk: Any) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        listed = [model.id async for model in client.models.list()]
        read = await client.models.retrieve("attractor")
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("gpt-4o")
    assert listed == ["attractor", "attractor-plain"]
    assert (read.id, read.owned_by) == ("attractor", "attractor")


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("n", {"n": 2}),
    ("tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}),
    ("logprobs", {"logprobs": True}),
    ("audio", {"audio": {"voice": "alloy", "format": "wav"}}),
    ("modalities", {"modalities": ["text", "audio"]}),
    ("response_format", {"response_format": {"type": "json_object"}}),
    ("stop", {"stop": ["\n"]}),
    ("messages.0.content.0", {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}),
    ("messages.0", {"messages": [{"role": "assistant", "content": "and"}]}),
    ("messages.1.role", {"messages": [*ASKED, {"role": "tool", "content": "4", "tool_call_id": "1"}]}),
    ("messages", {"messages": []}),
    ("temperature", {"temperature": 9}),
    ("messages.0.content", {"messages": [{"role": "user", "content": "a\x00b"}]}),
]


async def test_an_unsupported_parameter_is_refused_by_name(start: Any, settings: Any, sdk: Any) -> None:
    async with start(settings) as service, sdk(service) as client:
        for param, more in REFUSED:
            with pytest.raises(openai.BadRequestError) as refused:
                await client.chat.completions.create(**{"model": "attractor", "messages": ASKED, **more})
            assert refused.value.param == param, more
            assert refused.value.type == "invalid_request_error"
            assert refused.value.response.headers["x-should-retry"] == "false"
        allowed = await client.chat.completions.create(
            model="attractor",
            messages=ASKED,
            n=1,
            tools=[],
            response_format={"type": "text"},
            user="me",
            seed=7,
            extra_body={"made_up": {"by": "a client"}},
        )
    assert allowed.choices[0].message.content


async def test_a_completion_leaves_nothing_behind(start: Any, model_settings: Any, sdk: Any, counted: Any) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        await client.chat.completions.create(model="attractor", messages=ASKED)
        async for _ in await client.chat.completions.create(model="attractor", messages=ASKED, stream=True):
            pass
    # What clears up behind a completion is waited for when the process ends.
    assert await counted("session", "run", "message", "run_event", "temporary_session", "outbox") == [0] * 6


async def test_a_client_disconnect_stops_the_run(
    start: Any, model_settings: Any, world: Any, sdk: Any, counted: Any
) -> None:
    for streaming in (True, False):
        reached, never = asyncio.Event(), asyncio.Event()

        async def pace(_: int, reached: asyncio.Event = reached, never: asyncio.Event = never) -> None:
            reached.set()
            await never.wait()

        world.pace, world.chats_cut = pace, 0
        async with start(model_settings) as service, sdk(service) as client:
            request = asyncio.create_task(_asked(client, streaming))
            await asyncio.wait_for(reached.wait(), 120)
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
            async with asyncio.timeout(120):
                while not world.chats_cut or await counted("run") != [0]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)  # nothing tells when a run is gone
        assert await counted("session", "message") == [0, 0], streaming


async def _asked(client: AsyncOpenAI, streaming: bool) -> None:
    answer = await client.chat.completions.create(model="attractor", messages=ASKED, stream=streaming)
    if streaming:
        async for _ in answer:
            pass


async def test_a_model_failure_is_an_error_that_names_the_run(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    world.chat_status = 400
    settings = model_settings.model_copy(update={"chat_breaker_failures": 1})
    async with start(settings) as service, sdk(service) as client:
        with pytest.raises(openai.InternalServerError) as failed:
            await client.chat.completions.create(model="attractor-plain", messages=ASKED)
        stream = await client.chat.completions.create(model="attractor-plain", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError) as cut:
            async for _ in stream:
                pass
        run = await service.run(failed.value.body["run_id"])
        world.chat_status, usual = 500, await client.models.retrieve("attractor")
        quoted = await client.chat.completions.create(model="attractor", messages=ASKED)
        tripped = await client.models.retrieve("attractor")
    assert [card.model_extra["breaker"] for card in (usual, tripped)] == ["closed", "open"]
    assert (failed.value.code, cut.value.code) == ("model_failed", "model_failed")
    assert failed.value.response.headers["x-should-retry"] == "false"
    assert run["error_type"] == "model-failed"
    assert "“Tokens expire after fifteen minutes.”" in quoted.choices[0].message.content


async def test_a_used_up_budget_is_a_rate_limit_error_that_the_sdk_does_not_retry(
    start: Any, model_settings: Any, sdk: Any
) -> None:
    settings = model_settings.model_copy(update={"budget_user_tokens": 1})
    async with start(settings) as service, sdk(service) as client:
        await client.chat.completions.create(model="attractor-plain", messages=ASKED)
        with pytest.raises(openai.RateLimitError) as refused:
            await client.chat.completions.create(model="attractor-plain", messages=ASKED)
        stream = await client.chat.completions.create(model="attractor-plain", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError) as ended:
            async for _ in stream:
                pass
    assert refused.value.response.headers["x-should-retry"] == "false"
    errors = (refused.value, ended.value)
    assert [(one.code, one.type) for one in errors] == [("budget_exceeded", "rate_limit_error")] * 2
    assert all("all of the 1 tokens of the user a day are used, until 20" in one.message for one in errors)


async def test_a_restarted_answer_ends_the_stream_with_an_error(
    start: Any, model_settings: Any, world: Any, sdk: Any
) -> None:
    # What was said before the model's own words is taken back, as it said nothing.
    world.cut, world.answer, world.good_match = True, [], False
    async with start(model_settings) as service, sdk(service) as client:
        stream = await client.chat.completions.create(model="attractor", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError) as restarted:
            async for _ in stream:
                pass
        run_id = restarted.value.body["run_id"]
        await service.events(run_id)
        run = await service.run(run_id)
    assert restarted.value.code == "answer_restarted"
    assert run["answer"]["content"] == "I found nothing relevant to this in the documents."


async def test_the_blocking_client_works_too(
    start: Any, model_settings: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    async with start(model_settings) as service:
        key = auth_headers()["Authorization"].removeprefix("Bearer ")

        def ask() -> tuple[str | None, str]:
            with OpenAI(base_url=f"{service.client.base_url}/v1", api_key=key, max_retries=0, timeout=60) as client:
                whole = client.chat.completions.create(model="attractor", messages=ASKED)
                stream = client.chat.completions.create(model="attractor", messages=ASKED, stream=True)
                return whole.choices[0].message.content, "".join(one.choices[0].delta.content or "" for one in stream)

        whole, streamed = await asyncio.to_thread(ask)
    assert whole == streamed == ANSWER + SOURCES
