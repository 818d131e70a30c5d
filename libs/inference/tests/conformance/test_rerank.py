"""What the HTTP rerankers ask, and what they do with a provider's faults."""

from collections.abc import AsyncIterator

import pytest

from inference.breaker import CircuitBreaker
from inference.errors import (
    CircuitOpen,
    ProviderRejected,
    ProviderUnavailable,
    RerankError,
    UnreadableReply,
    WrongScores,
)
from inference.provider import Provider, Timeouts
from inference.rerank import HttpReranker
from inference.retry import RetryPolicy

DOCUMENTS = {"cohere": "documents", "jina": "documents", "tei": "texts"}


def reply(backend: str, *scores: float) -> object:
    """Best first, as the providers do it."""
    name = "score" if backend == "tei" else "relevance_score"
    results = sorted(({"index": index, name: score} for index, score in enumerate(scores)), key=lambda one: -one[name])
    return results if backend == "tei" else {"results": results}


@pytest.fixture(params=["cohere", "jina", "tei"])
def backend(request) -> str:
    return request.param


@pytest.fixture
async def reranker(provider, backend, patience) -> AsyncIterator[HttpReranker]:
    built = HttpReranker(
        Provider(provider.base_url, "sk-secret", Timeouts(connect=30, read=patience)),
        backend,
        "tiny",
        batch_size=2,
        retry=RetryPolicy(attempts=2, first_seconds=0.01),
        breaker=CircuitBreaker(failures=2),
    )
    yield built
    await built.aclose()


async def test_scores_come_in_the_order_of_the_texts(provider, script, backend, reranker) -> None:
    provider.replies = [script.reply(body=reply(backend, 0.1, 0.9)), script.reply(body=reply(backend, -3.5))]
    assert await reranker.rerank("why", ["a", "", "c\ud800"]) == [0.1, 0.9, -3.5]
    assert [asked[DOCUMENTS[backend]] for asked in provider.asked] == [["a", " "], ["c?"]]
    assert all(asked["query"] == "why" and asked.get("model", "tiny") == "tiny" for asked in provider.asked)
    assert provider.headers[0]["authorization"] == "Bearer sk-secret"


async def test_no_request_is_sent_for_an_empty_batch(provider, reranker) -> None:
    assert await reranker.rerank("why", []) == []
    assert provider.asked == []


async def test_retries_after_the_requested_wait(provider, script, backend, reranker) -> None:
    provider.replies = [script.reply(429, {}, {"Retry-After": "0"}), script.reply(body=reply(backend, 0.5))]
    assert await reranker.rerank("why", ["a"]) == [0.5]


async def test_a_malformed_reply_is_reported(provider, script, backend, reranker) -> None:
    name = "score" if backend == "tei" else "relevance_score"

    def wrapped(results: object) -> object:
        return results if backend == "tei" else {"results": results}

    cases = [
        (reply(backend, 0.5, 0.5), WrongScores),
        (wrapped([{"index": 3, name: 0.5}]), WrongScores),
        (wrapped([{"index": 0, name: "inf"}]), WrongScores),
        (wrapped([{"index": 0}]), UnreadableReply),
        (wrapped(None), UnreadableReply),
        ({"error": "none"}, UnreadableReply),
    ]
    for body, error in cases:
        provider.replies = [script.reply(body=body)]
        with pytest.raises(error) as raised:
            await reranker.rerank("why", ["a"])
        assert isinstance(raised.value, RerankError)


async def test_a_rejection_is_not_retried_and_hides_the_key(provider, script, reranker) -> None:
    provider.replies = [script.reply(401, {"message": "bad key sk-secret"})]
    with pytest.raises(ProviderRejected, match=r"bad key \*\*\*"):
        await reranker.rerank("why", ["a"])
    assert len(provider.asked) == 1


async def test_each_attempt_at_an_unreachable_provider_counts(backend) -> None:
    absent = HttpReranker(
        Provider("http://127.0.0.1:9/v1", None, Timeouts(connect=1)),
        backend,
        "tiny",
        retry=RetryPolicy(attempts=2, first_seconds=0.01),
        breaker=CircuitBreaker(failures=2),
    )
    with pytest.raises(ProviderUnavailable):
        await absent.rerank("why", ["a"])
    with pytest.raises(CircuitOpen):
        await absent.rerank("why", ["a"])
    await absent.aclose()
