from __future__ import annotations

import asyncio
import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.bm25 import Parameters, QueryWord, WeightedQuery, idf, weighted
from retrieval.lexical.lists import Header
from retrieval.lexical.maxscore import ChunkFilter, MaxScore
from retrieval.lexical.postings import ORDINAL_BITS, postings

TERMS = ["a", "b", "c", "d", "e", "f"]


class BlocksInMemory:
    """Postings cut into random blocks, the last of which may overlap the others; counts what is loaded."""

    def __init__(self, corpus: dict[int, dict[str, int]], block: int, seed: int = 1) -> None:
        dice = random.Random(seed)
        by_term = defaultdict(list)
        for chunk, frequencies in corpus.items():
            for term, frequency in frequencies.items():
                by_term[term].append((chunk, frequency, sum(frequencies.values())))
        self.blocks, self.headers, self.loaded = {}, {}, set()
        for term in TERMS:
            rows = sorted(by_term[term])
            recent = [row for row in rows if dice.random() < 0.2]
            rest = [row for row in rows if row not in recent]
            parts = [rest[start : start + block] for start in range(0, len(rest), block)] + ([recent] if recent else [])
            self.blocks[term] = [postings(*zip(*part, strict=True)) for part in parts]
            columns = [
                (number, part.chunks[0], part.chunks[-1], len(part), part.frequencies.max(), part.lengths.min())
                for number, part in enumerate(self.blocks[term])
            ]
            self.headers[term] = Header(*np.array(columns, np.int64).reshape(-1, 6).T)

    async def load(self, wanted):
        self.loaded |= {(term, position) for term, positions in wanted.items() for position in positions.tolist()}

    def block(self, term, position):
        assert (term, position) in self.loaded
        return self.blocks[term][position]


def weigh(corpus, words, parameters):
    frequencies = {term: sum(term in chunk for chunk in corpus.values()) for term in TERMS}
    lengths = sum(sum(chunk.values()) for chunk in corpus.values())
    return weighted(words, frequencies, len(corpus), lengths, parameters)


def reference(corpus, query: WeightedQuery, allowed, required):
    """Returns scores by the textbook formula, chunk by chunk."""
    k1, b = query.parameters.k1, query.parameters.b
    found = {}
    for chunk, frequencies in corpus.items():
        length = sum(frequencies.values())
        parts = [
            max(
                (
                    weight * frequencies[term] / (frequencies[term] + k1 * (1 - b + b * length / query.average_length))
                    for term, weight in word.weights.items()
                    if term in frequencies
                ),
                default=0.0,
            )
            for word in query.words
        ]
        if any(parts) and allowed(chunk) and all(parts[position] for position in required):
            found[chunk] = math.fsum(parts)
    return found


CHUNKS = st.builds(
    lambda document, ordinal: (document << ORDINAL_BITS) | ordinal, st.integers(1, 12), st.integers(0, 6)
)
CORPORA = st.dictionaries(
    CHUNKS, st.dictionaries(st.sampled_from(TERMS), st.integers(1, 4), min_size=1), min_size=1, max_size=60
)
WORDS = st.lists(
    st.builds(
        QueryWord, st.dictionaries(st.sampled_from(TERMS), st.sampled_from([1.0, 1.0, 0.7]), min_size=1, max_size=3),
        st.integers(1, 2),
    ),
    max_size=5,
)  # fmt: skip


@given(
    corpus=CORPORA,
    words=WORDS,
    k=st.integers(1, 12),
    block=st.integers(1, 6),
    together=st.sampled_from([0, 5, 1000]),
    documents=st.none() | st.lists(st.integers(1, 12), unique=True),
    banned=st.none() | st.lists(CHUNKS, unique=True),
    required=st.sets(st.integers(0, 1), max_size=2),
    parameters=st.builds(Parameters, st.sampled_from([0.0, 0.9, 1.2, 3.0]), st.sampled_from([0.0, 0.75, 1.0])),
)
def test_the_top_results_equal_those_of_the_reference(
    corpus, words, k, block, together, documents, banned, required, parameters
):
    required = {position for position in required if position < len(words)}
    query = weigh(corpus, words, parameters)
    limits = ChunkFilter(
        None if documents is None else np.array(sorted(documents), np.int64),
        None if banned is None else np.array(sorted(banned), np.int64),
    )
    ranking = MaxScore(BlocksInMemory(corpus, block), query, limits, together)
    ranked = asyncio.run(ranking.best(k, required))

    expected = reference(
        corpus,
        query,
        lambda chunk: (documents is None or chunk >> ORDINAL_BITS in documents) and chunk not in (banned or []),
        required,
    )
    scores = ranked.scores.tolist()
    best = sorted(expected.values(), reverse=True)[:k]
    assert scores == pytest.approx(best, rel=1e-12)
    assert [expected[chunk] for chunk in ranked.chunks.tolist()] == pytest.approx(scores, rel=1e-12)
    assert len(set(ranked.chunks.tolist())) == len(best)
    for (one, score), (other, next_score) in zip(
        zip(ranked.chunks, scores, strict=True), list(zip(ranked.chunks, scores, strict=True))[1:], strict=False
    ):
        assert score > next_score or one < other


@given(CORPORA, WORDS, st.integers(1, 4))
def test_random_access_gives_the_same_scores(corpus, words, block):
    query = weigh(corpus, words, Parameters())
    ranking = MaxScore(BlocksInMemory(corpus, block), query)
    chunks = np.array(sorted([*corpus, 99 << ORDINAL_BITS]), np.int64)
    total = np.zeros(len(chunks))
    for word in query.words:
        total += asyncio.run(ranking.look_up(word, chunks))
    expected = reference(corpus, query, lambda _: True, [])
    assert total.tolist() == pytest.approx([expected.get(chunk, 0.0) for chunk in chunks.tolist()])


def test_chunks_with_equal_scores_are_ordered_by_number():
    corpus = {number << ORDINAL_BITS: {"a": 1, "b": 2} for number in range(1, 40)}
    query = weigh(corpus, [QueryWord({"a": 1.0}), QueryWord({"b": 1.0})], Parameters())
    ranked = asyncio.run(MaxScore(BlocksInMemory(corpus, 3), query, together=0).best(7))
    assert (ranked.chunks >> ORDINAL_BITS).tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_blocks_that_cannot_contribute_are_not_loaded():
    corpus = {(number << ORDINAL_BITS): {"a": 1} for number in range(1, 400)}
    for number in (7, 200, 333):
        corpus[number << ORDINAL_BITS] = {"a": 1, "b": 3}
    lists = BlocksInMemory(corpus, 4)
    query = weigh(corpus, [QueryWord({"a": 1.0}), QueryWord({"b": 1.0})], Parameters())
    ranked = asyncio.run(MaxScore(lists, query, together=0).best(3))
    assert (ranked.chunks >> ORDINAL_BITS).tolist() == [7, 200, 333]
    assert sum(term == "a" for term, _ in lists.loaded) <= 4
    limited = ChunkFilter(np.array([200, 201], np.int64))
    lists.loaded.clear()
    asyncio.run(MaxScore(lists, query, limited).best(3))
    assert len(lists.loaded) <= 4


def test_an_unknown_word_has_the_highest_weight():
    query = weighted(
        [QueryWord({"x": 1.0}), QueryWord({"y": 1.0, "a": 0.7}), QueryWord({"a": 1.0}, 2)], {"a": 3}, 10, 50
    )
    assert [word.mass for word in query.words] == [idf(10, 0), idf(10, 0), 2 * idf(10, 3)]
    assert query.mass == pytest.approx(2 * idf(10, 0) + 2 * idf(10, 3))
    assert query.known == {"a"}
    assert query.share(query.mass) == 1
    assert query.weights["x"] == idf(10, 0)
    assert query.weights["a"] == 2 * idf(10, 3)
    assert query.weights["y"] == 0
    assert weighted([], {}, 0, 0).share(0) == 0


@given(st.integers(0, 1000), st.data())
def test_idf_falls_with_frequency_and_stays_positive(chunks, data):
    frequency = data.draw(st.integers(0, chunks))
    assert idf(chunks, frequency) > 0
    if frequency:
        assert idf(chunks, frequency) < idf(chunks, frequency - 1)
