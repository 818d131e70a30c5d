"""Postings as bytes: columns (`retrieval.lexical.columns`), read and written whole, without a loop over postings.

Chunk numbers are two columns: the differences between documents, and the ordinals within them.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.lexical.columns import Int64s, column, read_column

Int32s: TypeAlias = NDArray[np.int32]

ORDINAL_BITS = 20  # of a chunk's number; the rest is its document's number
LARGEST_BLOCK = 4096  # postings
PACKED, PLAIN, DEFLATED = 0, 1, 2  # the first byte; DEFLATED: packed, and the terms' names compressed


@dataclass(frozen=True)
class Postings:
    """The postings of one term, by chunk number; arrays of the same length. `lengths` are those of the chunks."""

    chunks: Int64s
    frequencies: Int32s
    lengths: Int32s

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def nbytes(self) -> int:
        """The approximate size in memory."""
        return 16 * len(self) + 500

    def without(self, chunks: Int64s) -> Postings:
        """Returns the postings of other chunks, or itself if that is all of them. `chunks` are sorted."""
        if not len(chunks):
            return self
        start = int(np.searchsorted(self.chunks, chunks[0]))
        end = int(np.searchsorted(self.chunks, chunks[-1], "right"))
        if start == end:
            return self
        some = self.chunks[start:end]
        gone = np.flatnonzero(chunks[np.searchsorted(chunks, some)] == some) + start
        if not len(gone):
            return self
        kept = np.ones(len(self), bool)
        kept[gone] = False
        return self.at(kept)

    def split(self, most: int) -> Iterator[Postings]:
        """Splits into parts of about the same size, none larger than `most`."""
        if 0 < len(self) <= most:
            yield self
            return
        parts = -(-len(self) // most)
        for at in np.array_split(np.arange(len(self)), parts) if parts else ():
            yield self.at(slice(int(at[0]), int(at[-1]) + 1))

    def at(self, where: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Postings:
        """Returns the postings at these places."""
        return Postings(self.chunks[where], self.frequencies[where], self.lengths[where])


def postings(chunks: object, frequencies: object, lengths: object) -> Postings:
    """Makes postings from anything that numpy makes arrays of, in any order."""
    numbers = np.asarray(chunks, np.int64)
    order = np.argsort(numbers, kind="stable")
    return Postings(numbers[order], np.asarray(frequencies, np.int32)[order], np.asarray(lengths, np.int32)[order])


def merge(*parts: Postings) -> Postings:
    """Joins postings, sorted. No chunk may be in two of them."""
    if len(parts) == 1:
        return parts[0]
    every = concatenated(parts)
    return postings(every.chunks, every.frequencies, every.lengths)


def encode(one: Postings) -> bytes:
    return struct.pack("<BI", PACKED, len(one)) + _columns(one)


def decode(data: bytes | memoryview) -> Postings:
    """Decodes postings, or the plain form of a migration: chunk, frequency, length in 8, 4, 4 bytes, big-endian."""
    if data[0] == PLAIN:
        count = (len(data) - 1) // 16
        chunks = np.frombuffer(data, ">i8", count, 1).astype(np.int64)
        frequencies = np.frombuffer(data, ">i4", count, 1 + 8 * count).astype(np.int32)
        lengths = np.frombuffer(data, ">i4", count, 1 + 12 * count).astype(np.int32)
        return Postings(chunks, frequencies, lengths)
    _, count = struct.unpack_from("<BI", data)
    return _of_columns(data, 5, count)


class TermPostings(Mapping[str, Postings]):
    """Postings by term, as slices of shared arrays. `counts` are the postings per term, in order."""

    def __init__(self, terms: list[str], counts: Int64s, all_postings: Postings) -> None:
        self.terms, self.counts, self.all_postings = terms, counts, all_postings
        self._places = {term: place for place, term in enumerate(terms)}
        self._ends = [0, *np.cumsum(counts).tolist()]

    @property
    def nbytes(self) -> int:
        """The approximate size in memory."""
        return 16 * len(self.all_postings) + 150 * len(self._places)

    def __getitem__(self, term: str) -> Postings:
        place = self._places[term]
        return self.all_postings.at(slice(self._ends[place], self._ends[place + 1]))

    def without(self, chunks: Int64s) -> TermPostings:
        """Returns the postings of other chunks; terms without any left are left out."""
        kept = ~np.isin(self.all_postings.chunks, chunks)
        owners = np.repeat(np.arange(len(self._places)), self.counts)[kept]
        counts = np.bincount(owners, minlength=len(self._places))
        terms = [term for term, count in zip(self._places, counts, strict=True) if count]
        return TermPostings(terms, counts[counts > 0], self.all_postings.at(kept))

    def part(self, start: int, end: int) -> TermPostings:
        """Returns the terms from place `start` to before `end`."""
        own = self.all_postings.at(slice(self._ends[start], self._ends[end]))
        return TermPostings(self.terms[start:end], self.counts[start:end], own)

    def of(self, chosen: NDArray[np.bool_]) -> TermPostings:
        """Returns the chosen terms."""
        terms = [term for term, one in zip(self.terms, chosen.tolist(), strict=True) if one]
        return TermPostings(terms, self.counts[chosen], self.all_postings.at(np.repeat(chosen, self.counts)))

    def encode(self, form: int = PACKED) -> bytes:
        """Encodes the postings; DEFLATED takes longer, and half the space for the terms' names."""
        return _encode_terms(self.terms, self.counts.tolist(), self.all_postings, form)

    def __contains__(self, term: object) -> bool:
        return term in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def encode_rows(rows: Sequence[tuple[str, int, int, int]]) -> bytes:
    """Encodes sorted rows of (term, chunk, frequency, length). Terms hold no NUL."""
    counts = Counter(term for term, _, _, _ in rows)
    _, chunks, frequencies, lengths = zip(*rows, strict=True) if rows else ((), (), (), ())
    every = Postings(np.array(chunks, np.int64), np.array(frequencies, np.int32), np.array(lengths, np.int32))
    return _encode_terms(list(counts), list(counts.values()), every)


def decode_terms(data: bytes | memoryview) -> TermPostings:
    form, count, terms, size = struct.unpack_from("<BIII", data)
    stored = bytes(data[13 : 13 + size])
    names = (zlib.decompress(stored) if form == DEFLATED else stored).decode()
    counts, offset = read_column(data, 13 + size, terms)
    return TermPostings(names.split("\0") if terms else [], counts, _of_columns(data, offset, count))


def join_terms(parts: Sequence[TermPostings]) -> TermPostings:
    """Joins the postings of sorted terms. No chunk may have a term in two of them."""
    terms = sorted(set[str]().union(*(part.terms for part in parts)))
    places = {term: place for place, term in enumerate(terms)}
    owners = [np.repeat(np.array([places[term] for term in part.terms], np.int64), part.counts) for part in parts]
    own = np.concatenate([np.empty(0, np.int64), *owners])
    every = concatenated([part.all_postings for part in parts])
    return TermPostings(terms, np.bincount(own, minlength=len(terms)), every.at(np.lexsort((every.chunks, own))))


def concatenated(parts: Sequence[Postings]) -> Postings:
    """Joins postings, one after the other."""
    if not parts:
        return postings([], [], [])
    chunks, frequencies, lengths = zip(*((part.chunks, part.frequencies, part.lengths) for part in parts), strict=True)
    return Postings(np.concatenate(chunks), np.concatenate(frequencies), np.concatenate(lengths))


def _encode_terms(terms: Sequence[str], counts: Sequence[int], every: Postings, form: int = PACKED) -> bytes:
    names = "\0".join(terms).encode()
    if form == DEFLATED:
        names = zlib.compress(names)
    head = struct.pack("<BIII", form, len(every), len(terms), len(names))
    return head + names + column(np.array(counts, np.int64)) + _columns(every)


def _columns(one: Postings) -> bytes:
    documents = one.chunks >> ORDINAL_BITS
    steps = documents - documents[:1]
    steps[1:] -= steps[:-1].copy()
    first = struct.pack("<q", int(documents[0]) if len(documents) else 0)
    ordinals = one.chunks & ((1 << ORDINAL_BITS) - 1)
    return first + b"".join(map(column, (steps, ordinals, one.frequencies, one.lengths)))


def _of_columns(data: bytes | memoryview, offset: int, count: int) -> Postings:
    (first,) = struct.unpack_from("<q", data, offset)
    steps, offset = read_column(data, offset + 8, count)
    ordinals, offset = read_column(data, offset, count)
    frequencies, offset = read_column(data, offset, count)
    lengths, _ = read_column(data, offset, count)
    chunks = (np.cumsum(steps) + first << ORDINAL_BITS) | ordinals
    return Postings(chunks, frequencies.astype(np.int32), lengths.astype(np.int32))
