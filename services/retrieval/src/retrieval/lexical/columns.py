"""Integers as bytes, in columns of the smallest sufficient width.

A column has value - least value in 0 (all equal), 4, 8, 16, 32 or 64 bits each; a short column may have any width up
to 16. A few values that are too large for the width of the others are stored apart with their positions (patched frame
of reference: Zukowski, Héman, Nes, Boncz 2006).
"""

from __future__ import annotations

import struct
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64s: TypeAlias = NDArray[np.int64]

_WIDTHS = (0, 4, 8, 16, 32, 64)
_BITS_OF_EXCEPTION = 32 + 64
_PATCHED, _FINE = 0x80, 0x40
_FEW, _LONG = 24, 1024  # values; reading a long column by single bits takes several times as long
_FINEST = 16  # bits
_INTEGERS = "  BHIQ"  # by width
_LEAST = ("<0s", "<b", "<h", "<i", "<q")  # forms of a column's least value; the first is 0


def column(values: NDArray[np.integer]) -> bytes:
    """Returns a byte (width, form of the least value, whether there are exceptions, whether the width is another), the
    least value, that other width, exceptions, values.
    """
    if len(values) < _FEW:
        return _short_column(values.tolist())
    least = int(values.min())
    above = values.astype(np.int64)
    above -= least
    bits = _cheapest(above)
    fine = bits not in _WIDTHS
    form = _form(least)
    code = (_FINE if fine else _WIDTHS.index(bits)) | form << 3
    head = struct.pack(_LEAST[form], least if form else b"") + (bytes([bits]) if fine else b"")
    if bits < 64 and len(too_large := np.flatnonzero(above >= 1 << bits)):
        exceptions = too_large.astype("<u4").tobytes() + above[too_large].astype("<u8").tobytes()
        code |= _PATCHED
        head += struct.pack("<I", len(too_large)) + exceptions
        above[too_large] = 0
    return bytes([code]) + head + _packed(above, bits)


def _short_column(values: list[int]) -> bytes:
    """Encodes a few values without numpy, which takes longer to start than this."""
    if not values:
        return b"\0"
    least = min(values)
    bits = (max(values) - least).bit_length()
    code = next(code for code, width in enumerate(_WIDTHS) if bits <= width and width != 4)
    form = _form(least)
    head = bytes([code | form << 3]) + struct.pack(_LEAST[form], least if form else b"")
    return head + struct.pack(f"<{len(values)}{_INTEGERS[code]}", *[one - least for one in values]) if code else head


def _form(least: int) -> int:
    """Returns 0 for zero, else 1 to 4: signed, in 1, 2, 4, 8 bytes."""
    bits = (least if least >= 0 else ~least).bit_length() + 1
    return 0 if least == 0 else 1 + [bits <= 8, bits <= 16, bits <= 32, True].index(True)


def _cheapest(above: Int64s) -> int:
    """Returns the width that takes the least space, including exceptions."""
    most = int(above.max()).bit_length()
    enough = next(width for width in _WIDTHS if most <= width)
    widths = sorted({*_WIDTHS, *range(_FINEST)} if len(above) < _LONG else _WIDTHS)
    lesser = [width for width in widths if width < enough]
    within = np.searchsorted(np.sort(above), [1 << width for width in lesser])
    sizes = [
        len(above) * width + (len(above) - count) * _BITS_OF_EXCEPTION
        for width, count in zip(lesser, within.tolist(), strict=True)
    ]
    least = min(sizes, default=len(above) * enough)
    return lesser[sizes.index(least)] if least < len(above) * enough else enough


def _packed(values: Int64s, bits: int) -> bytes:
    if bits == 0:
        return b""
    if bits == 4:
        halves = np.zeros(len(values) + len(values) % 2, np.uint8)
        halves[: len(values)] = values
        return (halves[::2] | halves[1::2] << 4).tobytes()
    if bits in _WIDTHS:
        return values.astype(f"<u{bits // 8}").tobytes()
    single = np.unpackbits(values.astype(">u2").view(np.uint8).reshape(-1, 2), axis=1)
    return np.packbits(single[:, _FINEST - bits :]).tobytes()


def read_column(data: bytes | memoryview, offset: int, count: int) -> tuple[Int64s, int]:
    """Returns (the values, where the next column begins)."""
    code = data[offset]
    form = code >> 3 & 7
    least = struct.unpack_from(_LEAST[form], data, offset + 1)[0] if form else 0
    offset += 1 + struct.calcsize(_LEAST[form])
    bits = _WIDTHS[code & 7]
    if code & _FINE:
        bits = data[offset]
        offset += 1
    at = exceptions = None
    if code & _PATCHED:
        (number,) = struct.unpack_from("<I", data, offset)
        at = np.frombuffer(data, "<u4", number, offset + 4)
        exceptions = np.frombuffer(data, "<u8", number, offset + 4 + 4 * number)
        offset += 4 + 12 * number
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
    if bits in _WIDTHS:
        return np.frombuffer(data, f"<u{bits // 8}", count, offset).astype(np.int64)
    packed = np.frombuffer(data, np.uint8, (count * bits + 7) // 8, offset)
    single = np.zeros((count, _FINEST), np.uint8)
    single[:, _FINEST - bits :] = np.unpackbits(packed, count=count * bits).reshape(count, bits)
    return np.packbits(single).view(">u2").astype(np.int64)
