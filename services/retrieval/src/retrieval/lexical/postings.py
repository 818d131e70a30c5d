"""Postings as bytes: columns of the least sufficient width, read and written whole, without a loop over postings.

A column holds value - least value in 0 (all alike), 4, 8, 16, 32 or 64 bits each; few values that are too large for
the width that suits the others stand behind it with their positions (patched frame of reference: Zukowski, Héman,
Nes, Boncz 2006). Chunk numbers are two columns: the steps from document to document, and the ordinals within them.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64s: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]

ORDINAL_BITS = 20  # of a chunk's number: the rest is its document's
LARGEST_BLOCK = 4096  # postings
PACKED, PLAIN = 0, 1  # the first byte
_WIDTHS = (0, 4, 8, 16, 32, 64)
_BITS_OF_EXCEPTION = 32 + 64
_PATCHED = 0x80
_FEW = 24  # values
_INTEGERS = "  BHIQ"  # by width
_LEAST = ("<0s", "<b", "<h", "<i", "<q")  # forms of a column's least value; the first is 0


@dataclass(frozen=True)
class Postings:
    """Of one term, in the order of their chunks' numbers; arrays of one length. `lengths` are those of the chunks."""

    chunks: Int64s
    frequencies: Int32s
    lengths: Int32s

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def documents(self) -> Int64s:
        """The number of each posting's document."""
        return self.chunks >> ORDINAL_BITS

    def without(self, chunks: Int64s) -> Postings:
        """The others, itself where it has none of them. `chunks` are in order."""
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
        """In parts of about the same size, none larger than `most`."""
        if 0 < len(self) <= most:
            yield self
            return
        parts = -(-len(self) // most)
        for at in np.array_split(np.arange(len(self)), parts) if parts else ():
            yield self.at(slice(int(at[0]), int(at[-1]) + 1))

    def at(self, where: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Postings:
        """Those at these places."""
        return Postings(self.chunks[where], self.frequencies[where], self.lengths[where])


def postings(chunks: object, frequencies: object, lengths: object) -> Postings:
    """Of anything that numpy makes arrays of, in any order."""
    numbers = np.asarray(chunks, np.int64)
    order = np.argsort(numbers, kind="stable")
    return Postings(numbers[order], np.asarray(frequencies, np.int32)[order], np.asarray(lengths, np.int32)[order])


def merge(*parts: Postings) -> Postings:
    """All of them in order. A chunk must not be in two of them."""
    if len(parts) == 1:
        return parts[0]
    every = concatenated(parts)
    return postings(every.chunks, every.frequencies, every.lengths)


def encode(one: Postings) -> bytes:
    return struct.pack("<BI", PACKED, len(one)) + _columns(one)


def decode(data: bytes | memoryview) -> Postings:
    """Also of the plain form that a migration writes: chunk, frequency, length, in 8, 4 and 4 bytes, big-endian."""
    if data[0] == PLAIN:
        count = (len(data) - 1) // 16
        chunks = np.frombuffer(data, ">i8", count, 1).astype(np.int64)
        frequencies = np.frombuffer(data, ">i4", count, 1 + 8 * count).astype(np.int32)
        lengths = np.frombuffer(data, ">i4", count, 1 + 12 * count).astype(np.int32)
        return Postings(chunks, frequencies, lengths)
    _, count = struct.unpack_from("<BI", data)
    return _of_columns(data, 5, count)


class TermPostings(Mapping[str, Postings]):
    """Postings by term, as slices of arrays that all of them share. `counts` are by term, in their order."""

    def __init__(self, terms: list[str], counts: Int64s, all_postings: Postings) -> None:
        self.counts, self.all_postings = counts, all_postings
        self._places = {term: place for place, term in enumerate(terms)}
        self._ends = [0, *np.cumsum(counts).tolist()]

    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        return 16 * len(self.all_postings) + 150 * len(self._places)

    def __getitem__(self, term: str) -> Postings:
        place = self._places[term]
        return self.all_postings.at(slice(self._ends[place], self._ends[place + 1]))

    def without(self, chunks: Int64s) -> TermPostings:
        """The others; terms that have none left are left out."""
        kept = ~np.isin(self.all_postings.chunks, chunks)
        owners = np.repeat(np.arange(len(self._places)), self.counts)[kept]
        counts = np.bincount(owners, minlength=len(self._places))
        terms = [term for term, count in zip(self._places, counts, strict=True) if count]
        return TermPostings(terms, counts[counts > 0], self.all_postings.at(kept))

    def encode(self) -> bytes:
        return _encode_terms(list(self), self.counts.tolist(), self.all_postings)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def encode_terms(by_term: Mapping[str, Postings]) -> bytes:
    """Terms hold no NUL. Those without a posting are left out."""
    found = [(term, by_term[term]) for term in sorted(by_term) if len(by_term[term])]
    every = concatenated([part for _, part in found])
    return _encode_terms([term for term, _ in found], [len(part) for _, part in found], every)


def encode_rows(rows: Sequence[tuple[str, int, int, int]]) -> bytes:
    """As `encode_terms`, of (term, chunk, frequency, length), sorted."""
    counts = Counter(term for term, _, _, _ in rows)
    _, chunks, frequencies, lengths = zip(*rows, strict=True) if rows else ((), (), (), ())
    every = Postings(np.array(chunks, np.int64), np.array(frequencies, np.int32), np.array(lengths, np.int32))
    return _encode_terms(list(counts), list(counts.values()), every)


def decode_terms(data: bytes | memoryview) -> TermPostings:
    _, count, terms, size = struct.unpack_from("<BIII", data)
    names = bytes(data[13 : 13 + size]).decode()
    counts, offset = _read_column(data, 13 + size, terms)
    return TermPostings(names.split("\0") if terms else [], counts, _of_columns(data, offset, count))


def merge_terms(parts: Sequence[TermPostings]) -> Iterator[tuple[str, Postings]]:
    """The postings of each term over all parts, in order. A chunk must not have a term in two of them."""
    places: dict[str, int] = {}
    numbers = [np.array([places.setdefault(term, len(places)) for term in part], np.int64) for part in parts]
    owners = [np.repeat(own, part.counts) for own, part in zip(numbers, parts, strict=True)]
    terms = np.concatenate([np.empty(0, np.int64), *owners])
    every = concatenated([part.all_postings for part in parts])
    order = np.lexsort((every.chunks, terms))
    ends = np.cumsum(np.bincount(terms, minlength=len(places))).tolist()
    every = every.at(order)
    for term, start, end in zip(places, [0, *ends], ends, strict=False):
        yield term, every.at(slice(start, end))


def concatenated(parts: Sequence[Postings]) -> Postings:
    """One after the other."""
    if not parts:
        return postings([], [], [])
    chunks, frequencies, lengths = zip(*((part.chunks, part.frequencies, part.lengths) for part in parts), strict=True)
    return Postings(np.concatenate(chunks), np.concatenate(frequencies), np.concatenate(lengths))


def _encode_terms(terms: Sequence[str], counts: Sequence[int], every: Postings) -> bytes:
    names = "\0".join(terms).encode()
    head = struct.pack("<BIII", PACKED, len(every), len(terms), len(names))
    return head + names + _column(np.array(counts, np.int64)) + _columns(every)


def _columns(one: Postings) -> bytes:
    documents = one.documents
    steps = documents - documents[:1]
    steps[1:] -= steps[:-1].copy()
    first = struct.pack("<q", int(documents[0]) if len(documents) else 0)
    ordinals = one.chunks & ((1 << ORDINAL_BITS) - 1)
    return first + b"".join(map(_column, (steps, ordinals, one.frequencies, one.lengths)))


def _of_columns(data: bytes | memoryview, offset: int, count: int) -> Postings:
    (first,) = struct.unpack_from("<q", data, offset)
    steps, offset = _read_column(data, offset + 8, count)
    ordinals, offset = _read_column(data, offset, count)
    frequencies, offset = _read_column(data, offset, count)
    lengths, _ = _read_column(data, offset, count)
    chunks = (np.cumsum(steps) + first << ORDINAL_BITS) | ordinals
    return Postings(chunks, frequencies.astype(np.int32), lengths.astype(np.int32))


def _column(values: NDArray[np.integer]) -> bytes:
    """A byte (width, form of the least value, whether there are exceptions), the least value, exceptions, values."""
    if len(values) < _FEW:
        return _short_column(values.tolist())
    least = int(values.min())
    above = values.astype(np.int64)
    above -= least
    code = _cheapest(above)
    form = _form(least)
    head = bytes([code | form << 3]) + struct.pack(_LEAST[form], least if form else b"")
    bits = _WIDTHS[code]
    if bits < 64 and len(too_large := np.flatnonzero(above >= 1 << bits)):
        exceptions = too_large.astype("<u4").tobytes() + above[too_large].astype("<u8").tobytes()
        head = bytes([head[0] | _PATCHED]) + head[1:] + struct.pack("<I", len(too_large)) + exceptions
        above[too_large] = 0
    return head + _packed(above, bits)


def _short_column(values: list[int]) -> bytes:
    """The same without numpy, which takes longer to start than this does."""
    if not values:
        return b"\0"
    least = min(values)
    bits = (max(values) - least).bit_length()
    code = next(code for code, width in enumerate(_WIDTHS) if bits <= width and width != 4)
    form = _form(least)
    head = bytes([code | form << 3]) + struct.pack(_LEAST[form], least if form else b"")
    return head + struct.pack(f"<{len(values)}{_INTEGERS[code]}", *[one - least for one in values]) if code else head


def _form(least: int) -> int:
    """1 to 4: signed, in 1, 2, 4, 8 bytes."""
    bits = (least if least >= 0 else ~least).bit_length() + 1
    return 0 if least == 0 else 1 + [bits <= 8, bits <= 16, bits <= 32, True].index(True)


def _cheapest(above: Int64s) -> int:
    """Which width takes the least space, exceptions included."""
    bits = int(above.max()).bit_length()
    enough = next(code for code, width in enumerate(_WIDTHS) if bits <= width)
    best, least = enough, len(above) * _WIDTHS[enough]
    for code in range(enough - 1, -1, -1):
        exceptions = int(np.count_nonzero(above >= 1 << _WIDTHS[code]))
        size = len(above) * _WIDTHS[code] + exceptions * _BITS_OF_EXCEPTION
        if size < least:
            best, least = code, size
    return best


def _packed(values: Int64s, bits: int) -> bytes:
    if bits == 0:
        return b""
    if bits == 4:
        halves = np.zeros(len(values) + len(values) % 2, np.uint8)
        halves[: len(values)] = values
        return (halves[::2] | halves[1::2] << 4).tobytes()
    return values.astype(f"<u{bits // 8}").tobytes()


def _read_column(data: bytes | memoryview, offset: int, count: int) -> tuple[Int64s, int]:
    """(the values, where the next column begins)."""
    code = data[offset]
    form = code >> 3 & 7
    least = struct.unpack_from(_LEAST[form], data, offset + 1)[0] if form else 0
    offset += 1 + struct.calcsize(_LEAST[form])
    at = exceptions = None
    if code & _PATCHED:
        (number,) = struct.unpack_from("<I", data, offset)
        at = np.frombuffer(data, "<u4", number, offset + 4)
        exceptions = np.frombuffer(data, "<u8", number, offset + 4 + 4 * number)
        offset += 4 + 12 * number
    bits = _WIDTHS[code & 7]
    values = _unpacked(data, offset, count, bits)
    if at is not None and exceptions is not None:
        values[at] = exceptions
    if least:
        values += least
    return values, offset + (count * bits + 7) // 8


def _unpacked(data: bytes | memoryview, offset: int, count: int, bits: int) -> Int64s:
    if bits == 0:
        return np.zeros(count, np.int64)
    if bits == 4:
        halves = np.frombuffer(data, np.uint8, (count + 1) // 2, offset)
        values = np.empty(2 * len(halves), np.int64)
        values[::2] = halves & 15
        values[1::2] = halves >> 4
        return values[:count]
    return np.frombuffer(data, f"<u{bits // 8}", count, offset).astype(np.int64)
