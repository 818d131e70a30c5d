"""The index of a user's memories: large ones find what comparing everything would find."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from memory.recall import vectors
from memory.recall.index import IndexedMemory, MemoryIndex, RecallQuestion
from memory.recall.vectors import MemoryVectors
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

DIMS, COUNT = 384, 4_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def unit_vectors(count: int) -> np.ndarray:
    """Returns vectors in clusters, as those of texts about the same things."""
    dice = np.random.default_rng(1)
    topics = dice.normal(size=(50, DIMS))
    found = topics[dice.integers(50, size=count)] + dice.normal(size=(count, DIMS))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def many(monkeypatch):
    """Returns an index's vectors that count as many, every tenth of them still missing, and the vectors."""
    monkeypatch.setattr(vectors, "EXACT", 100)
    monkeypatch.setattr(vectors, "SHORTLIST", 400)
    rows, kept = unit_vectors(COUNT), MemoryVectors(DIMS)
    kept.append([None if place % 10 == 0 else row for place, row in enumerate(rows)])
    return kept, rows


def test_the_nearest_of_many_vectors_are_found_by_their_signs(many):
    kept, rows = many
    asked = rows[1]
    exact = np.where(np.arange(COUNT) % 10 == 0, -1, rows @ asked)
    wanted = set(np.argsort(-exact)[:20].tolist())
    assert len(wanted & set(kept.nearest(asked, 20, None).tolist())) >= 19


def test_only_allowed_vectors_are_near_however_many_there_are(many):
    kept, rows = many
    allowed = np.zeros(COUNT, np.bool_)
    allowed[[3, 10, 500]] = True
    assert set(kept.nearest(rows[3], 20, allowed).tolist()) <= {3, 500}
    assert 3 in kept.nearest(rows[3], 20, allowed)


def test_a_vector_that_comes_later_is_found(many):
    kept, rows = many
    assert 10 not in kept.nearest(rows[10], 20, None)
    kept.put(10, rows[10])
    assert 10 in kept.nearest(rows[10], 20, None)
    assert kept.missing == COUNT // 10 - 1


@pytest.fixture(scope="module")
def tools():
    return SoftMatch(), Analyzer(), WordPieces()


def test_a_question_with_a_date_finds_what_was_said_then(tools):
    soft_match, analyzer, pieces = tools
    index = MemoryIndex(DIMS, soft_match, analyzer, pieces)
    for day in range(60):
        text = f"Lunch number {day} was soup."
        said_at, terms = BEGAN + timedelta(days=day), analyzer.terms(text)
        index.put(
            [IndexedMemory(UUID(int=day), "episode", None, "", said_at, text, terms, pieces.distinct([text])[0], None)]
        )
    text = "What was lunch on 5 February 2026?"
    asked = RecallQuestion(
        text, analyzer.terms(text), pieces.weighted(text, lambda _: 1.0), None, frozenset(), BEGAN + timedelta(days=70)
    )
    assert index.find(asked).ids[0] == UUID(int=35)
    assert index.unembedded == 60
