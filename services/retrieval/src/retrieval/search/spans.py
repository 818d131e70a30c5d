"""Decides which chunks surround a hit, and which hits are merged. No IO. Chunks are identified by their index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

LONGEST_SECTION = 6_000  # characters
MOST_MERGED = 9  # chunks


class ChunkPlace(Protocol):
    """The position of a chunk in its document."""

    @property
    def document_id(self) -> UUID: ...
    @property
    def chunk_index(self) -> int: ...


@dataclass(frozen=True)
class ChunkSpan:
    """The chunks `first` to `last` of a document."""

    first: int
    last: int

    def has(self, chunk_index: int) -> bool:
        return self.first <= chunk_index <= self.last

    def overlaps(self, other: ChunkSpan) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Outline:
    """The place, the headings and the length (in characters) of a chunk that is not read yet."""

    document_id: UUID
    chunk_index: int
    heading_path: list[str]
    length: int


@dataclass
class Merged:
    """Merged hits. `order`: those that remain, best first, with their `spans`, no two of which share a chunk. `into`:
    the others, each with the better hit that it became part of.
    """

    order: list[int] = field(default_factory=list)
    spans: dict[int, ChunkSpan] = field(default_factory=dict)
    into: dict[int, int] = field(default_factory=dict)


def neighbours(chunk_index: int) -> ChunkSpan:
    return ChunkSpan(max(0, chunk_index - 1), chunk_index + 1)


def section(chunk_index: int, outlines: Mapping[int, Outline], most: int = LONGEST_SECTION) -> ChunkSpan:
    """Returns the adjacent chunks under the same headings as this one, on both sides, up to `most` characters."""
    own = outlines[chunk_index]
    first = last = chunk_index
    length, sides = own.length, [-1, 1]
    while sides:
        side = sides.pop(0)
        following = (first if side < 0 else last) + side
        outline = outlines.get(following)
        if outline is None or outline.heading_path != own.heading_path or length + outline.length > most:
            continue
        length += outline.length
        first, last = min(first, following), max(last, following)
        sides.append(side)
    return ChunkSpan(first, last)


def merged(
    order: Sequence[int],
    places: Mapping[int, ChunkPlace],
    spans: Mapping[int, ChunkSpan],
    most: int,
    k: int | None = None,
) -> Merged:
    """Merges hits whose spans overlap into the best of them, if the union has at most `most` chunks.

    Otherwise the worse hit keeps the rest of its own span. Stops before a hit that would be number `k` + 1.
    """
    result = Merged()
    by_document: dict[UUID, list[int]] = {}
    for chunk in order:
        place, span = places[chunk], spans[chunk]
        better = by_document.setdefault(place.document_id, [])
        into = _grown(result, better, places, place.chunk_index, span, most)
        if into is None:
            into = next((one for one in better if result.spans[one].has(place.chunk_index)), None)
        if into is not None:
            result.into[chunk] = into
            continue
        if len(result.order) == k:
            break
        result.spans[chunk] = _apart(span, place.chunk_index, [result.spans[one] for one in better])
        result.order.append(chunk)
        better.append(chunk)
    return result


def _grown(
    result: Merged,
    better: Sequence[int],
    places: Mapping[int, ChunkPlace],
    chunk_index: int,
    span: ChunkSpan,
    most: int,
) -> int | None:
    """Extends the best hit that can be extended to this chunk, and returns it; None if there is none."""
    for one in better:
        if result.spans[one].overlaps(span):
            others = [result.spans[other] for other in better if other != one]
            own = result.spans[one]
            both = ChunkSpan(min(own.first, span.first), max(own.last, span.last))
            union = _apart(both, places[one].chunk_index, others)
            if union.has(chunk_index) and union.last - union.first < most:
                result.spans[one] = union
                return one
    return None


def _apart(span: ChunkSpan, around: int, taken: Sequence[ChunkSpan]) -> ChunkSpan:
    """Returns the part of the span, on both sides of `around`, that no other span has."""
    first = max([span.first, *(one.last + 1 for one in taken if one.last < around)])
    last = min([span.last, *(one.first - 1 for one in taken if one.first > around)])
    return ChunkSpan(first, last)
