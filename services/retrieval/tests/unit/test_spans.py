from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from retrieval.search.spans import MOST_MERGED, ChunkSpan, Outline, merged, neighbours, section

A, B = UUID(int=1), UUID(int=2)


@dataclass(frozen=True)
class At:
    document_id: UUID
    chunk_index: int


def merging(*places: At, most: int = MOST_MERGED):
    numbered = dict(enumerate(places))
    return merged(list(numbered), numbered, {n: neighbours(one.chunk_index) for n, one in numbered.items()}, most)


def test_adjacent_hits_are_merged() -> None:
    found = merging(At(A, 5), At(A, 7), At(A, 1), At(B, 6), At(A, 6))
    assert found.order == [0, 2, 3]
    assert found.spans == {0: ChunkSpan(4, 8), 2: ChunkSpan(0, 2), 3: ChunkSpan(5, 7)}
    assert found.into == {1: 0, 4: 0}


def test_the_growth_of_a_hit_is_bounded() -> None:
    found = merging(*(At(A, index) for index in (10, 12, 14, 16)), most=5)
    assert found.order == [0, 2]
    assert found.spans == {0: ChunkSpan(9, 13), 2: ChunkSpan(14, 17)}


def test_candidates_after_the_first_k_hits_change_nothing() -> None:
    places = {number: At(A, index) for number, index in enumerate([10, 20, 11, 30, 21])}
    spans = {number: neighbours(one.chunk_index) for number, one in places.items()}
    found = merged(list(places), places, spans, MOST_MERGED, 2)
    assert (found.order, found.into) == ([0, 1], {2: 0})
    assert found.spans == {0: ChunkSpan(9, 12), 1: ChunkSpan(19, 21)}


def test_a_section_ends_at_a_heading_change_or_the_length_limit() -> None:
    outlines = {index: Outline(A, index, ["Doc", "One" if index < 4 else "Two"], 100) for index in range(8)}
    assert section(2, outlines) == ChunkSpan(0, 3)
    assert section(5, outlines) == ChunkSpan(4, 7)
    assert section(5, outlines, 250) == ChunkSpan(4, 5)
    assert section(5, outlines, 300) == ChunkSpan(4, 6)
    del outlines[6]
    assert section(5, outlines) == ChunkSpan(4, 5)


@given(
    st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 30)), min_size=1, max_size=30, unique=True),
    st.lists(st.integers(0, 12), min_size=30, max_size=30),
    st.integers(1, 12),
)
def test_every_hit_is_in_one_span_and_no_chunk_is_in_two(
    where: list[tuple[UUID, int]], reaches: list[int], most: int
) -> None:
    places = {number: At(*one) for number, one in enumerate(where)}
    spans = {
        number: ChunkSpan(max(0, one.chunk_index - reach), one.chunk_index + reach)
        for (number, one), reach in zip(places.items(), reaches, strict=False)
    }
    found = merged(list(places), places, spans, most)
    assert sorted([*found.order, *found.into]) == list(places)
    assert set(found.spans) == set(found.order)
    for number, place in places.items():
        holder = found.into.get(number, number)
        assert places[holder].document_id == place.document_id
        assert found.spans[holder].has(place.chunk_index)
        assert holder <= number
    for one in found.order:
        for other in found.order:
            if one != other and places[one].document_id == places[other].document_id:
                assert not found.spans[one].overlaps(found.spans[other])
