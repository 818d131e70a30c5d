"""Vectors as the database stores them, in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.reading.arrays import array_text

Vector: TypeAlias = NDArray[np.float32]
Halves: TypeAlias = NDArray[np.float16]
_HEADER = 4  # bytes before the numbers of a halfvec in binary form


def vector_text(vector: NDArray[np.floating]) -> str:
    """Returns the vector in pgvector's text form."""
    return f"[{','.join(_texts_of_halves()[vector.astype(np.float16).view(np.uint16)].tolist())}]"


def vector_array(vectors: NDArray[np.float32]) -> str:
    """Returns an array literal of vectors."""
    return array_text(f'"{vector_text(vector)}"' for vector in vectors)


def from_binary(sent: bytes) -> Halves:
    """Reads a halfvec that the server sent in binary form."""
    return np.frombuffer(sent, ">f2", offset=_HEADER).astype(np.float16)


def cosines(vector: Vector, others: Sequence[Halves | None]) -> NDArray[np.float64]:
    """Returns the cosine with each of the others, NaN for None; as the server does, of the vector in half precision."""
    found = np.full(len(others), np.nan)
    if known := [other for other in others if other is not None]:
        rows = np.frombuffer(b"".join(map(bytes, known)), np.float16).reshape(len(known), -1).astype(np.float32)
        own = vector.astype(np.float16).astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows) * (own @ own))
        found[[other is not None for other in others]] = rows @ own / np.where(lengths > 0, lengths, np.nan)
    return found


@cache
def _texts_of_halves() -> NDArray[np.object_]:
    """Returns every half-precision number as text by its bits: look-ups are ten times as fast as formatting."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return np.array([f"{half:.5g}" for half in halves.astype(np.float64).tolist()], dtype=object)
