from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.encoder_files import bundled_files
from relevance.soft_match import SoftMatch
from relevance.wordpieces import MOST_TOKENS, WeightedPieces, WordPieces, chunk_text, decoded, encoded

TOOL = Path(__file__).parents[2] / "tools" / "wordpiece_table.py"
PIECES, SOFT = WordPieces(), SoftMatch()
TEXTS = ["The car was sold.", "An automobile changed hands", "Photosynthesis needs light", ""]


def weighted_query(text: str) -> WeightedPieces:
    return PIECES.weighted(text, lambda _word: 1.0)


def test_the_same_word_matches_fully_and_a_synonym_beats_an_unrelated_word():
    same, synonym, other, nothing = SOFT(weighted_query("car"), PIECES.distinct(TEXTS))
    assert same == pytest.approx(1)
    assert 1 > synonym > other + 0.1
    assert nothing == 0


def test_each_word_counts_with_its_given_weight():
    weights = {"car": 3.0, "light": 1.0}
    query = PIECES.weighted("the car light", lambda word: weights.get(word, 0.0))
    with_car, with_light = SOFT(query, PIECES.distinct(["car", "light"]))
    assert with_car > with_light
    assert SOFT(PIECES.weighted("the", lambda _word: 0.0), PIECES.distinct(TEXTS)).tolist() == [0, 0, 0, 0]


def test_each_wordpiece_has_the_weight_of_its_word():
    query = PIECES.weighted("BillingRouter ok", lambda word: float(len(word)))
    assert query.weights.tolist() == [13.0] * (len(query.ids) - 1) + [2.0]


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=30))
def test_any_text_scores_between_zero_and_one(texts, query):
    stored = PIECES.distinct(texts)
    scores = SOFT(weighted_query(query), stored)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[::-1] == pytest.approx(SOFT(weighted_query(query), stored[::-1]), abs=1e-6)
    assert scores == pytest.approx([SOFT(weighted_query(query), [one])[0] for one in stored], abs=1e-6)


@given(st.text(max_size=200))
def test_stored_wordpieces_are_distinct_and_sorted(text):
    ids = decoded(PIECES.distinct([text]))[0].tolist()
    assert ids == sorted(set(ids))


@given(st.lists(st.sets(st.one_of(st.integers(0, 2**16 - 1), st.integers(0, 600)), min_size=1), min_size=1, max_size=5))
def test_stored_wordpieces_can_be_read_back(texts):
    rising = [np.array(sorted(text), np.uint16) for text in texts]
    ids, begins = decoded([encoded(one) for one in rising])
    assert [part.tolist() for part in np.split(ids, begins[1:])] == [one.tolist() for one in rising]


def test_a_long_text_is_truncated_to_the_encoder_limit():
    words = [f"word{number}" for number in range(5000)]
    assert len(decoded(PIECES.distinct([" ".join(words)]))[0]) <= MOST_TOKENS
    assert PIECES.distinct(["a" * 10_000_000, "\ud800"])[1] == PIECES.distinct(["?"])[0]


def test_a_title_repeated_as_the_first_heading_is_read_once():
    assert chunk_text("Guide", ["Guide", "Setup"], "Run it.") == "Guide Setup Run it."


def test_the_table_equals_the_output_of_the_encoder():
    """Compares cosines of words in the table with those of the encoder's outputs, reduced in the same way."""
    tool = runpy.run_path(str(TOOL))
    words = np.arange(2000, 29000, 45)
    own = tool["outputs"](bundled_files().model_file, words)
    centred = tool["unit"](own)
    centred = centred - centred.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][: tool["COMPONENTS"]]
    fresh = tool["unit"](centred @ axes.T)
    upper = np.triu_indices(len(words), 1)
    stored = SOFT.table[words]
    agreement = np.corrcoef((fresh @ fresh.T)[upper], (stored @ stored.T)[upper])[0, 1]
    assert agreement > 0.9  # the axes of 600 words differ a little from those of all
