"""Postings as bytes: columns of the least sufficient width, read and written whole, without a loop over postings.

A column holds value - least value in 0 (all alike), 4, 8, 16, 32 or 64 bits each; few values that are too large for
the width that suits the others stand behind it with their positions (patched frame of reference: Zukowski, Héman,
Nes, Boncz 2006). Chunk numbers are two columns: the steps from document to document, and the ordinals within them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
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
        """The others, itself where it has none of them."""
        kept = ~np.isin(self.chunks, chunks)
        return self if kept.all() else self._at(kept)

    def only(self, chunks: Int64s) -> Postings:
        """Those of these chunks."""
        return self._at(np.isin(self.chunks, chunks))

    def split(self, most: int) -> Iterator[Postings]:
        """In parts of about the same size, none larger than `most`."""
        parts = -(-len(self) // most)
        for at in np.array_split(np.arange(len(self)), parts) if parts else ():
            yield self._at(slice(int(at[0]), int(at[-1]) + 1))

    def _at(self, where: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Postings:
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
    return postings(
        np.concatenate([part.chunks for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


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
    """Postings by term, as slices of arrays that all of them share."""

    def __init__(self, terms: list[str], ends: Int64s, all_of_them: Postings) -> None:
        self._place = {term: place for place, term in enumerate(terms)}
        self._ends, self._all = [0, *ends.tolist()], all_of_them

    @property
    def postings(self) -> int:
        """Over all terms."""
        return len(self._all)

    @property
    def chunks(self) -> Int64s:
        """The distinct numbers, in order."""
        return np.unique(self._all.chunks)

    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        return self._all.chunks.nbytes * 2 + 120 * len(self._place)

    def __getitem__(self, term: str) -> Postings:
        place = self._place[term]
        return self._all._at(slice(self._ends[place], self._ends[place + 1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)


def encode_terms(by_term: Mapping[str, Postings]) -> bytes:
    """Terms hold no NUL. Those without a posting are left out."""
    terms = sorted(term for term, found in by_term.items() if len(found))
    parts = [by_term[term] for term in terms]
    every = (
        Postings(
            np.concatenate([part.chunks for part in parts]),
            np.concatenate([part.frequencies for part in parts]),
            np.concatenate([part.lengths for part in parts]),
        )
        if parts
        else postings([], [], [])
    )
    counts = _column(np.array([len(part) for part in parts], np.int64))
    names = "\0".join(terms).encode()
    return struct.pack("<BIII", PACKED, len(every), len(terms), len(names)) + names + counts + _columns(every)


def decode_terms(data: bytes | memoryview) -> TermPostings:
    _, count, terms, size = struct.unpack_from("<BIII", data)
    names = bytes(data[13 : 13 + size]).decode()
    counts, offset = _read_column(data, 13 + size, terms)
    return TermPostings(names.split("\0") if terms else [], np.cumsum(counts), _of_columns(data, offset, count))


def _columns(one: Postings) -> bytes:
    documents = one.documents
    steps = np.diff(documents, prepend=documents[:1])
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
    if not len(values):
        return b"\0"
    least = int(values.min())
    above = (values.astype(np.int64) - least).astype(np.uint64)
    code = _cheapest(above)
    bits = _WIDTHS[code]
    too_large = np.flatnonzero(above >> np.uint64(bits)) if bits < 64 else np.empty(0, np.intp)
    form = _form(least)
    head = bytes([code | form << 3 | (_PATCHED if len(too_large) else 0)])
    head += struct.pack(_LEAST[form], least if form else b"")
    if len(too_large):
        head += struct.pack("<I", len(too_large)) + too_large.astype("<u4").tobytes()
        head += above[too_large].astype("<u8").tobytes()
        above[too_large] = 0
    return head + _packed(above, bits)


def _form(least: int) -> int:
    """1 to 4: signed, in 1, 2, 4, 8 bytes."""
    bits = (least if least >= 0 else ~least).bit_length() + 1
    return 0 if least == 0 else 1 + [bits <= 8, bits <= 16, bits <= 32, True].index(True)


def _cheapest(above: NDArray[np.uint64]) -> int:
    """Which width takes the least space, exceptions included."""
    if int(above.max()) == 0:
        return 0
    sizes = [
        len(above) * bits + (_BITS_OF_EXCEPTION * int(np.count_nonzero(above >> np.uint64(bits))) if bits < 64 else 0)
        for bits in _WIDTHS
    ]
    return sizes.index(min(sizes))


def _packed(values: NDArray[np.uint64], bits: int) -> bytes:
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
