"""Embeddings, requested with the `openai` SDK."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import numpy as np
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from served_apps import serving

from inference.embeddings import BUNDLED_SPACE
from retrieval.app import create_app

TEXTS = [
    "The car was sold in Lyon.",
    "",
    "An automobile changed hands.",
    "Photosynthesis turns light into sugar. " * 200,
]


@pytest.fixture
def key(auth_headers):
    return auth_headers()["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def door(settings, object_store, key):  # noqa: ARG001  the bucket must exist
    """`async with door() as sdk`: the SDK, without retries."""

    @asynccontextmanager
    async def opened(own=settings):
        async with (
            serving(create_app(own)) as url,
            AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=240) as sdk,
        ):
            yield sdk

    return opened


async def test_texts_get_the_vectors_of_the_encoder(door, embedder):
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


async def test_an_unsupported_parameter_is_refused_by_name(door):
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
        with pytest.raises(openai.BadRequestError, match="send texts: lists of token numbers are not read"):
            await sdk.embeddings.create(model="attractor", input=[1, 2, 3])
        with pytest.raises(openai.BadRequestError, match="send 1 to 256 texts at a time, not 257"):
            await sdk.embeddings.create(model="attractor", input=["a"] * 257)
        most = await sdk.embeddings.create(model="attractor", input=["a"] * 256)
    assert len(most.data) == 256


async def test_an_unresponsive_model_is_named_in_the_error(door, make_settings, provider):
    provider.status = 400
    async with door(make_settings(**provider.default())) as sdk:
        with pytest.raises(openai.InternalServerError) as silent:
            await sdk.embeddings.create(model="attractor", input="text")
    assert (silent.value.status_code, silent.value.code) == (503, "embeddings_unavailable")


async def test_the_blocking_sdk_works_too(door, embedder, key):
    async with door() as sdk:

        def ask() -> list[float]:
            with OpenAI(base_url=sdk.base_url, api_key=key, max_retries=0, timeout=240) as blocking:
                return blocking.embeddings.create(model="attractor", input=TEXTS[0]).data[0].embedding

        vector = await asyncio.to_thread(ask)
    np.testing.assert_allclose(vector, (await embedder.embed(TEXTS[:1]))[0], atol=1e-3)
