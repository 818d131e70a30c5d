"""Embeddings as the `openai` SDK asks for them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import numpy as np
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from inference.embeddings import BUNDLED_SPACE
from retrieval.app import create_app

TEXTS = [
    "The car was sold in Lyon.",
    "",
    "An automobile changed hands.",
    "Photosynthesis turns light into sugar. " * 200,
]


@pytest.fixture
def door(client, auth_headers):
    @asynccontextmanager
    async def opened():
        key = auth_headers()["Authorization"].removeprefix("Bearer ")
        async with AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0, timeout=240) as sdk:
            yield sdk

    return opened


async def test_texts_get_the_vectors_that_the_encoder_gives_them(door, embedder):
    expected = await embedder.embed(TEXTS)
    async with door() as sdk:
        packed = await sdk.embeddings.create(model="attractor", input=TEXTS)
        plain = await sdk.embeddings.create(model=BUNDLED_SPACE.model, input=TEXTS, encoding_format="float")
        one = await sdk.embeddings.create(model="attractor", input=TEXTS[0], dimensions=384)
    for answer in (packed, plain):
        assert [vector.index for vector in answer.data] == [0, 1, 2, 3]
        np.testing.assert_allclose([vector.embedding for vector in answer.data], expected, atol=1e-3)
    assert [vector.embedding for vector in packed.data] == [vector.embedding for vector in plain.data]
    np.testing.assert_allclose(one.data[0].embedding, expected[0], atol=1e-3)
    assert packed.model == BUNDLED_SPACE.model
    assert packed.usage.total_tokens == packed.usage.prompt_tokens > 0


async def test_what_is_not_offered_is_refused_by_name(door):
    refusals = [
        ("model", openai.NotFoundError, {"model": "text-embedding-3-small"}),
        ("dimensions", openai.BadRequestError, {"dimensions": 256}),
        ("input", openai.BadRequestError, {"input": ["a"] * 257}),
        ("input", openai.BadRequestError, {"input": []}),
        ("encoding_format", openai.BadRequestError, {"encoding_format": "int8"}),
    ]
    async with door() as sdk:
        for param, kind, more in refusals:
            with pytest.raises(kind) as refused:
                await sdk.embeddings.create(**{"model": "attractor", "input": "text", **more})
            assert refused.value.param.startswith(param), more
        with pytest.raises(openai.BadRequestError):
            await sdk.embeddings.create(model="attractor", input=[1, 2, 3])
        most = await sdk.embeddings.create(model="attractor", input=["a"] * 256)
    assert len(most.data) == 256


async def test_a_model_that_does_not_respond_is_named(running, make_settings, provider, auth_headers, object_store):  # noqa: ARG001
    provider.status = 400
    async with running(create_app(make_settings(**provider.default()))) as client:
        key = auth_headers()["Authorization"].removeprefix("Bearer ")
        async with AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0, timeout=240) as sdk:
            with pytest.raises(openai.InternalServerError) as silent:
                await sdk.embeddings.create(model="attractor", input="text")
    assert (silent.value.status_code, silent.value.code) == (503, "embeddings_unavailable")


async def test_the_sdk_that_blocks_works_too(client, auth_headers, embedder):
    key = auth_headers()["Authorization"].removeprefix("Bearer ")

    def ask() -> list[float]:
        with OpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0, timeout=240) as sdk:
            return sdk.embeddings.create(model="attractor", input=TEXTS[0]).data[0].embedding

    np.testing.assert_allclose(await asyncio.to_thread(ask), (await embedder.embed(TEXTS[:1]))[0], atol=1e-3)
