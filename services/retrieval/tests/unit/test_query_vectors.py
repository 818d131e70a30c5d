"""Vectors of queries: made together, remembered, and nobody's failure or haste is another's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from inference.errors import EmbeddingError
from retrieval.dense.query_vectors import AT_ONCE, MOST_TOGETHER, QueryVectors
from service_kit.recent_values import REMEMBERED


class Lengths:
    """Embeds a text as its length; `calls` are the texts of each call, which ends when `may_end` is set."""

    space = EmbeddingSpace("lengths", 1, 100)

    def __init__(self, refused: str = "") -> None:
        self.calls: list[list[str]] = []
        self.began, self.may_end, self.refused = asyncio.Event(), asyncio.Event(), refused

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        self.began.set()
        await self.may_end.wait()
        if self.refused in texts:
            raise EmbeddingError("refused")
        return np.array([[len(text)] for text in texts], np.float32)

    async def aclose(self) -> None: ...


async def asked(vectors: QueryVectors, text: str) -> float:
    return float((await vectors.of_query(text, vectors.embedders.default))[0])


async def test_what_is_asked_at_the_same_time_is_embedded_together():
    model = Lengths()
    model.may_end.set()
    vectors = QueryVectors(Embedders(model))
    assert await asyncio.gather(*(asked(vectors, "a" * size) for size in (3, 1, 2))) == [3, 1, 2]
    assert model.calls == [["aaa", "a", "aa"]]


async def test_what_is_asked_during_calls_is_embedded_together_after_them():
    model = Lengths()
    vectors = QueryVectors(Embedders(model))
    first = []
    for number in range(AT_ONCE):
        first.append(asyncio.create_task(asked(vectors, "a" * (number + 1))))
        model.began.clear()
        await model.began.wait()
    later = [asyncio.create_task(asked(vectors, text)) for text in ["dddd", "dddd", *("c" * n for n in range(5, 14))]]
    await asyncio.sleep(0)
    model.may_end.set()
    assert await asyncio.gather(*first, *later) == [1, 2, 4, 4, *range(5, 14)]
    assert [len(call) for call in model.calls] == [1] * AT_ONCE + [MOST_TOGETHER, 2]


async def test_a_text_that_the_model_refuses_fails_alone():
    model = Lengths(refused="bad")
    model.may_end.set()
    vectors = QueryVectors(Embedders(model))
    found = await asyncio.gather(asked(vectors, "good"), asked(vectors, "bad"), return_exceptions=True)
    assert found[0] == 4
    assert isinstance(found[1], EmbeddingError)
    with pytest.raises(EmbeddingError):
        await asked(vectors, "bad")


async def test_a_search_that_ends_early_takes_no_vector_from_others():
    model = Lengths()
    vectors = QueryVectors(Embedders(model))
    hasty, patient = (asyncio.create_task(asked(vectors, "same")) for _ in range(2))
    await model.began.wait()
    hasty.cancel()
    model.may_end.set()
    assert await patient == 4
    assert (hasty.cancelled() or hasty.cancelling(), len(model.calls)) == (True, 1)


async def test_the_last_queries_are_remembered():
    model = Lengths()
    model.may_end.set()
    vectors = QueryVectors(Embedders(model))
    for number in (*range(REMEMBERED + 1), REMEMBERED, 0):
        await asked(vectors, str(number))
    assert [call[0] for call in model.calls] == [*map(str, range(REMEMBERED + 1)), "0"]
