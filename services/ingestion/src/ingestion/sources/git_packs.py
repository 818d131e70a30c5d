"""Computes what unpacking an object of a git pack takes, from its headers only (gitformat-pack)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dulwich.objects import RawObjectID

# Types of objects that are stored as deltas.
OFFSET_DELTA, REFERENCE_DELTA = 6, 7
HASH_BYTES = 20
DELTA_HEAD_BYTES = 64


@dataclass(frozen=True)
class Weight:
    """Bytes of the object, of the largest object built on the way to it, and of all its deltas together."""

    size: int
    largest: int
    differences: int

    def is_within(self, max_bytes: int) -> bool:
        return self.largest <= max_bytes and self.differences <= max_bytes


@dataclass(frozen=True)
class _Entry:
    """An entry of a pack. A delta turns the object at the offset `base`, of size `from_`, into one of size `made`."""

    size: int
    base: int | None = None
    made: int = 0
    from_: int = 0


def packed_weight(pack: Path, offset: int, offset_of: Callable[[RawObjectID], int]) -> Weight:
    """Follows the chain of deltas down to the object that is stored whole.

    Raises KeyError if a base is not in the pack, ValueError if the chain is a cycle, and IndexError or zlib.error if
    the pack is damaged.
    """
    size, largest, differences, seen = None, 0, 0, set[int]()
    with pack.open("rb") as file:
        at: int | None = offset
        while at is not None:
            if at in seen or at < 0:
                raise ValueError("a circle of differences")
            seen.add(at)
            entry = _entry(file, at, offset_of)
            is_whole = entry.base is None
            size = (entry.size if is_whole else entry.made) if size is None else size
            largest = max(largest, entry.made, entry.from_, entry.size if is_whole else 0)
            differences += 0 if is_whole else entry.size
            at = entry.base
    assert size is not None
    return Weight(size, largest, differences)


def _entry(file: BinaryIO, offset: int, offset_of: Callable[[RawObjectID], int]) -> _Entry:
    file.seek(offset)
    byte = file.read(1)[0]
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 128:
        byte = file.read(1)[0]
        size |= (byte & 127) << shift
        shift += 7
    if kind == REFERENCE_DELTA:
        base = offset_of(RawObjectID(file.read(HASH_BYTES)))
    elif kind == OFFSET_DELTA:
        base = offset - _distance(file)
    else:
        return _Entry(size)
    # A delta begins with the sizes of its base and of its result.
    head = zlib.decompressobj().decompress(file.read(DELTA_HEAD_BYTES), DELTA_HEAD_BYTES // 2)
    from_, position = _number(head, 0)
    return _Entry(size, base, _number(head, position)[0], from_)


def _distance(file: BinaryIO) -> int:
    """Reads how many bytes before an entry its base begins."""
    byte = file.read(1)[0]
    distance = byte & 127
    while byte & 128:
        byte = file.read(1)[0]
        distance = ((distance + 1) << 7) | (byte & 127)
    return distance


def _number(data: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, position
