"""The port for rerankers, and an adapter for HTTP APIs: Cohere, Jina, text-embeddings-inference and the like."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from inference.breaker import CircuitBreaker
from inference.errors import ProviderUnavailable, UnreadableReply, WrongScores
from inference.provider import Provider
from inference.retry import RetryPolicy
from inference.unicode import encodable


class Reranker(Protocol):
    """Scores how well a text answers a query, reading both together."""

    @property
    def model(self) -> str: ...

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Returns a score per text, in the texts' order: higher is better, comparable within one query.

        Raises RerankError.
        """
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The form of one API's requests, and where its replies have the scores."""

    body: Callable[[str, str, list[str]], dict[str, Any]]
    results: Callable[[Any], Any]
    score: str
    batch_size: int


def _cohere(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": texts}


def _jina(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": texts, "return_documents": False}


def _tei(_model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "texts": texts, "truncate": True}


DIALECTS = {
    "cohere": _Dialect(_cohere, lambda reply: reply["results"], "relevance_score", 1000),
    "jina": _Dialect(_jina, lambda reply: reply["results"], "relevance_score", 1000),
    "tei": _Dialect(_tei, lambda reply: reply, "score", 32),  # its --max-client-batch-size
}


class HttpReranker:
    """`POST /rerank`, below the provider's base URL.

    The base URL is Cohere's (`https://api.cohere.com/v2`), Jina's (`https://api.jina.ai/v1`), that of a compatible
    server (vLLM, Infinity, LiteLLM), or that of text-embeddings-inference.
    """

    def __init__(
        self,
        provider: Provider,
        backend: Literal["cohere", "jina", "tei"],
        model: str,
        *,
        batch_size: int | None = None,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """Owns `provider` and closes it. A caller is waiting: by default it makes two attempts in quick succession."""
        self.model = model
        self._provider = provider
        self._dialect = DIALECTS[backend]
        self._batch_size = batch_size or self._dialect.batch_size
        self._retry = retry or RetryPolicy(attempts=2, first_seconds=0.1, longest_seconds=1.0)
        self._breaker = breaker or CircuitBreaker()

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            scores += await self._rerank_batch(query, texts[start : start + self._batch_size])
        return scores

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _rerank_batch(self, query: str, texts: Sequence[str]) -> list[float]:
        body = self._dialect.body(self.model, encodable(query), [encodable(text) or " " for text in texts])

        async def once() -> Any:
            # Each attempt counts, because a caller that gives up before the last one would leave no failure.
            with self._breaker.call(failures=ProviderUnavailable):
                return await self._provider.post("/rerank", body)

        return self._scores(await self._retry.run(once), len(texts))

    def _scores(self, reply: Any, count: int) -> list[float]:
        try:
            results = self._dialect.results(reply)
            by_index = {int(one["index"]): float(one[self._dialect.score]) for one in results}
        except (KeyError, TypeError, ValueError):
            raise UnreadableReply("no list of scores with their indexes") from None
        if len(results) != count or by_index.keys() != set(range(count)):
            raise WrongScores(f"{len(results)} scores for {count} texts")
        if not all(map(math.isfinite, by_index.values())):
            raise WrongScores("a score is not finite")
        return [by_index[index] for index in range(count)]
