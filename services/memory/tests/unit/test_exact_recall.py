"""Recall from few memories is exact: the index finds and scores what a scan of all of them does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scanned_memories import scanned

from memory.recall.index import IndexedMemory, MemoryIndex, RecallQuestion
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

DIMS = 8
BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
WORDS = [
    "launch",
    "budget",
    "Berlin",
    "March",
    "yesterday",
    "invoice",
    "Anna",
    "moved",
    "tea",
    "server",
    "when",
    "2026",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)
SAID = st.lists(
    st.tuples(TEXTS, st.booleans(), st.integers(0, 4), st.integers(0, 40), st.integers(0, 2**16)),
    min_size=1,
    max_size=50,
)


@pytest.fixture(scope="module")
def tools():
    return SoftMatch(), Analyzer(), WordPieces()


@settings(max_examples=40)
@given(said=SAID, asked=TEXTS, seed=st.integers(0, 2**16))
def test_the_index_finds_and_scores_what_a_scan_of_all_memories_does(tools, said, asked, seed):
    soft_match, analyzer, pieces = tools
    rows, at = [], BEGAN
    for number, (words, asks, session, days, dice) in enumerate(said):
        at += timedelta(days=days, minutes=1)
        text = " ".join(words) + ("?" if asks else ".")
        session_id = UUID(int=1_000 + session) if session else None
        packed = pieces.distinct([text])[0]
        vector = None if dice % 7 == 0 else direction(dice)
        rows.append(
            IndexedMemory(UUID(int=number), "episode", session_id, "", at, text, analyzer.terms(text), packed, vector)
        )
    index = MemoryIndex(DIMS, soft_match, analyzer, pieces)
    index.put(rows)
    text = " ".join(asked) + "?"
    weighted = pieces.weighted(text, lambda word: float(bool(analyzer.terms(word))))
    now = at + timedelta(days=3)
    question = RecallQuestion(text, analyzer.terms(text), weighted, direction(seed), frozenset(), now)
    expected, found = scanned(rows, question, soft_match), index.find(question)
    assert set(found.ids) == set(expected)
    np.testing.assert_allclose(found.scores, [expected[one] for one in found.ids], atol=1e-4)
    assert (np.diff(found.scores) <= 0).all()


def direction(seed: int) -> np.ndarray:
    row = np.random.default_rng(seed).normal(size=DIMS)
    return (row / np.linalg.norm(row)).astype(np.float32)
