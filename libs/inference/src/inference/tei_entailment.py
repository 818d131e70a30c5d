"""Entailment by a sequence classifier behind text-embeddings-inference or a server with its API."""

import math
from collections.abc import Sequence
from typing import Any

from inference.breaker import CircuitBreaker
from inference.entailment import EntailmentScores, TextPair, label_named
from inference.errors import ProviderUnavailable, UnreadableReply, WrongLabels
from inference.provider import Provider
from inference.retry import RetryPolicy
from inference.unicode import encodable

_BATCH = 32  # its --max-client-batch-size


class TeiEntailment:
    """`POST /predict` with pairs of texts, below the provider's base URL."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        batch_size: int | None = None,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """Owns `provider` and closes it. A caller is waiting: by default it makes two attempts in quick succession."""
        self.model = model
        self._provider = provider
        self._batch_size = batch_size or _BATCH
        self._retry = retry or RetryPolicy(attempts=2, first_seconds=0.1, longest_seconds=1.0)
        self._breaker = breaker or CircuitBreaker()

    async def classify(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        found: list[EntailmentScores] = []
        for start in range(0, len(pairs), self._batch_size):
            found += await self._batch(pairs[start : start + self._batch_size])
        return found

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _batch(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        inputs = [[encodable(pair.premise) or " ", encodable(pair.hypothesis) or " "] for pair in pairs]
        body = {"inputs": inputs, "truncate": True, "raw_scores": False}

        async def once() -> Any:
            with self._breaker.call(failures=ProviderUnavailable):
                return await self._provider.post("/predict", body)

        reply = await self._retry.run(once)
        if not isinstance(reply, list) or len(reply) != len(pairs):
            raise UnreadableReply("not one list of labels for each pair")
        return [_scores(one) for one in reply]


def _scores(labelled: Any) -> EntailmentScores:
    try:
        found = [(label_named(str(one["label"])), float(one["score"])) for one in labelled]
    except (KeyError, TypeError, ValueError):
        raise UnreadableReply("no list of labels with their scores") from None
    if not found or not all(math.isfinite(score) and score >= 0 for _, score in found):
        raise WrongLabels("a score is not from 0 to 1")
    by_label = {label: sum(score for one, score in found if one == label) for label, _ in found}
    return EntailmentScores(
        by_label.get("entailment", 0.0), by_label.get("neutral", 0.0), by_label.get("contradiction", 0.0)
    )
