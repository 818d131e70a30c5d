"""All postings are read as they were written."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.postings import (
    DEFLATED,
    LARGEST_BLOCK,
    ORDINAL_BITS,
    Postings,
    decode,
    decode_terms,
    encode,
    encode_rows,
    join_terms,
    merge,
    postings,
)

NUMBERS = st.one_of(
    st.integers(0, 2**63 - 1),
    st.builds(lambda document, ordinal: document << ORDINAL_BITS | ordinal, st.integers(1, 40), st.integers(0, 9)),
)
COUNTS = st.one_of(st.integers(1, 20), st.integers(1, 2**31 - 1))


@st.composite
def some_postings(draw: st.DrawFn) -> Postings:
    chunks = draw(st.lists(NUMBERS, unique=True, max_size=30))
    pairs = draw(st.lists(st.tuples(COUNTS, COUNTS), min_size=len(chunks), max_size=len(chunks)))
    return postings(chunks, [one for one, _ in pairs], [one for _, one in pairs])


def rows(one: Postings) -> list[tuple[int, int, int]]:
    return list(zip(one.chunks.tolist(), one.frequencies.tolist(), one.lengths.tolist(), strict=True))


def encode_terms(by_term: Mapping[str, Postings]) -> bytes:
    return encode_rows([(term, *row) for term in sorted(by_term) for row in rows(by_term[term])])


@given(some_postings())
def test_postings_round_trip(one):
    again = decode(encode(one))
    assert rows(again) == rows(one)
    assert (again.chunks.dtype, again.frequencies.dtype, again.lengths.dtype) == (np.int64, np.int32, np.int32)


@given(st.dictionaries(st.text(st.characters(blacklist_characters="\0", codec="utf-8"), min_size=1), some_postings()))
def test_terms_round_trip(by_term):
    again = decode_terms(encode_terms(by_term))
    assert {term: rows(again[term]) for term in again} == {
        term: rows(found) for term, found in by_term.items() if len(found)
    }
    assert len(again.all_postings) == sum(map(len, by_term.values()))
    assert "\0" not in again
    assert encode_terms(by_term) == again.encode()
    deflated = decode_terms(again.encode(DEFLATED))
    assert {term: rows(deflated[term]) for term in deflated} == {term: rows(again[term]) for term in again}
    halves = [again.part(0, len(again) // 2), again.part(len(again) // 2, len(again))]
    assert join_terms(halves).encode() == again.encode()
    chosen = again.counts > 1
    assert list(again.of(chosen)) == [term for term in again if len(again[term]) > 1]
    assert join_terms([again.of(chosen), again.of(~chosen)]).encode() == again.encode()
    some = np.unique(again.all_postings.chunks)[::2]
    left = again.without(some)
    assert {term: rows(left[term]) for term in left} == {
        term: rows(found.without(some)) for term, found in by_term.items() if len(found.without(some))
    }


@given(st.lists(st.dictionaries(st.sampled_from("abcde"), some_postings()), max_size=4))
def test_merging_keeps_every_posting_under_its_term(parts):
    apart = [  # each chunk is in one part only
        {term: postings(one.chunks // 8 * 8 + number, one.frequencies, one.lengths) for term, one in part.items()}
        for number, part in enumerate(parts)
    ]
    merged = join_terms([decode_terms(encode_terms(part)) for part in apart])
    assert merged.terms == sorted(merged.terms)
    for term in "abcde":
        found = [row for part in apart if term in part for row in rows(part[term])]
        assert sorted(rows(merged[term]) if term in merged else []) == sorted(found)
        assert term not in merged or merged[term].chunks.tolist() == sorted(row[0] for row in found)


@given(some_postings(), st.data())
def test_removing_and_re_adding_postings_loses_none(one, data):
    some = np.unique(np.array(data.draw(st.lists(st.sampled_from([*one.chunks.tolist(), 0, 5]))), np.int64))
    left = one.without(some)
    assert rows(left) == [row for row in rows(one) if row[0] not in some]
    taken = postings(*zip(*[row for row in rows(one) if row[0] in some], strict=True)) if len(left) < len(one) else left
    assert taken is left or rows(merge(left, taken)) == rows(one)
    parts = list(one.split(7))
    assert all(0 < len(part) <= 7 for part in parts)
    assert [row for part in parts for row in rows(part)] == rows(one)


def test_the_uncompressed_format_of_the_migration_is_read():
    chunks, frequencies, lengths = [1 << ORDINAL_BITS, 5 << ORDINAL_BITS | 3], [1, 70_000], [9, 80]
    data = b"\x01" + struct.pack(">2q2i2i", *chunks, *frequencies, *lengths)
    assert rows(decode(data)) == list(zip(chunks, frequencies, lengths, strict=True))


@pytest.mark.parametrize("share", [0.9, 0.1, 0.01])
def test_a_block_uses_at_most_five_bytes_per_posting(share):
    dice = np.random.default_rng(4)
    documents = np.repeat(np.arange(1, 400_000), dice.integers(1, 60, 399_999))
    starts = np.r_[0, np.flatnonzero(np.diff(documents)) + 1]
    ordinals = np.arange(len(documents)) - np.repeat(starts, np.diff(np.r_[starts, len(documents)]))
    chosen = np.flatnonzero(dice.random(len(documents)) < share)[:LARGEST_BLOCK]
    lengths = dice.lognormal(4.6, 0.5, LARGEST_BLOCK)
    block = postings((documents << ORDINAL_BITS | ordinals)[chosen], dice.geometric(0.6, LARGEST_BLOCK), lengths)
    assert len(encode(block)) <= 5 * LARGEST_BLOCK
