"""What the OpenAI-compatible embedder does with a provider's faults."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from inference.breaker import CircuitBreaker
from inference.embeddings import EmbeddingSpace
from inference.errors import (
    CircuitOpen,
    EmbeddingError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
    WrongEmbeddings,
)
from inference.openai_embeddings import OpenAIEmbedder
from inference.provider import Provider, Timeouts
from inference.retry import RetryPolicy


@pytest.fixture
async def embedder(provider, patience) -> AsyncIterator[OpenAIEmbedder]:
    built = OpenAIEmbedder(
        Provider(provider.base_url, "sk-secret", Timeouts(connect=30, read=patience)),
        EmbeddingSpace("tiny", 2, 16),
        retry=RetryPolicy(attempts=2, first_seconds=0.01),
        breaker=CircuitBreaker(failures=2),
    )
    yield built
    await built.aclose()


def vectors(*rows: object) -> dict[str, object]:
    return {"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]}


async def test_retries_after_the_requested_wait(provider, script, embedder) -> None:
    provider.replies = [script.reply(429, {}, {"Retry-After": "0"}), script.reply(body=vectors([0, 2]))]
    np.testing.assert_array_equal(await embedder.embed(["a"]), [[0, 1]])
    assert provider.headers[0]["authorization"] == "Bearer sk-secret"


async def test_never_waits_longer_than_allowed(provider, script, embedder) -> None:
    provider.replies = [script.reply(429, {}, {"Retry-After": "3600"})]
    with pytest.raises(ProviderUnavailable, match="429") as raised:
        await embedder.embed(["a"])
    assert raised.value.retry_after == 3600


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (vectors([1, 0], [1, 0]), WrongEmbeddings),
        (vectors([1, 0, 0]), WrongEmbeddings),
        (vectors([0, 0]), WrongEmbeddings),
        ({"data": [{"index": 4, "embedding": [1, 0]}]}, WrongEmbeddings),
        (vectors("text"), UnreadableReply),
        ({"data": None}, UnreadableReply),
        ([], UnreadableReply),
    ],
)
async def test_a_malformed_reply_is_reported(provider, script, embedder, body, error) -> None:
    provider.replies = [script.reply(body=body)]
    with pytest.raises(error) as raised:
        await embedder.embed(["a"])
    assert isinstance(raised.value, EmbeddingError)


async def test_a_rejection_is_not_retried_and_hides_the_key(provider, script, embedder) -> None:
    provider.replies = [script.reply(401, {"error": {"message": "bad key sk-secret"}})]
    with pytest.raises(ProviderRejected, match=r"bad key \*\*\*") as raised:
        await embedder.embed(["a"])
    assert raised.value.status == 401
    assert len(provider.asked) == 1


async def test_an_unreachable_provider_opens_the_circuit() -> None:
    absent = OpenAIEmbedder(
        Provider("http://127.0.0.1:9/v1", None, Timeouts(connect=1)),
        EmbeddingSpace("tiny", 2, 16),
        retry=RetryPolicy(attempts=1),
        breaker=CircuitBreaker(failures=1),
    )
    with pytest.raises(ProviderUnavailable):
        await absent.embed(["a"])
    with pytest.raises(CircuitOpen):
        await absent.embed(["a"])
    await absent.aclose()


async def test_the_empty_text_is_sent_as_a_space(provider, script, embedder) -> None:
    provider.replies = [script.reply(body=vectors([1, 0]))]
    await embedder.embed([""])
    assert provider.asked[0]["input"] == [" "]
