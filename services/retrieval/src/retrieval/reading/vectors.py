"""Vectors as the database stores them, in half precision."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.reading.arrays import array_text

Vector: TypeAlias = NDArray[np.float32]
_HEADER = 4  # bytes before the numbers of a halfvec in binary form


def vector_text(vector: NDArray[np.floating]) -> str:
    """Returns the vector in pgvector's text form."""
    return f"[{','.join(_texts_of_halves()[vector.astype(np.float16).view(np.uint16)].tolist())}]"


def vector_array(vectors: NDArray[np.float32]) -> str:
    """Returns an array literal of vectors."""
    return array_text(f'"{vector_text(vector)}"' for vector in vectors)


def from_binary(sent: bytes) -> Vector:
    """Reads a halfvec that the server sent in binary form."""
    return np.frombuffer(sent, ">f2", offset=_HEADER).astype(np.float32)


@cache
def _texts_of_halves() -> NDArray[np.object_]:
    """Returns every half-precision number as text by its bits: look-ups are ten times as fast as formatting."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return np.array([f"{half:.5g}" for half in halves.astype(np.float64).tolist()], dtype=object)
