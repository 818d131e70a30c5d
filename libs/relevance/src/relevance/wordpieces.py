"""The wordpieces of a text in a few bytes: what `soft_match` needs to know about a chunk.

In every embedding space they are those of the bundled encoder's vocabulary, for which the package has a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.tokens import load_minilm_tokenizer
from inference.unicode import encodable

Pieces: TypeAlias = NDArray[np.uint16]
MOST_TOKENS = 254  # as many as the encoder reads of a text, besides the two special ones
_LONGEST_TOKEN = 100  # characters; limits how much of a text of many megabytes is tokenized
NO_PIECES: Pieces = np.empty(0, np.uint16)
_CARRY = 255
_SPECIAL = 103  # ids up to [MASK] are placeholders, not pieces of text
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class WeightedPieces:
    """A query's wordpieces in their order, repeats included, and the weight of each."""

    ids: Pieces
    weights: NDArray[np.float64]


class WordPieces:
    """Splits texts into wordpieces. Thread-safe."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        """`tokenizer`: the bundled encoder's, if it is already loaded. It is copied."""
        self._tokenizer = Tokenizer.from_str((tokenizer or load_minilm_tokenizer()).to_str())
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def weighted(self, text: str, weight: Callable[[str], float]) -> WeightedPieces:
        """Returns the pieces with the weights of their words; `weight` is called for each part between spaces."""
        text = _cut(text)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        at = np.zeros(len(text) + 1)
        for word in _WORD.finditer(text):
            at[word.start() : word.end()] = weight(word[0])
        ids = np.array(encoding.ids, np.uint16)
        starts = np.array([start for start, _ in encoding.offsets], np.intp)
        own = ids > _SPECIAL
        return WeightedPieces(ids[own], at[starts[own]])

    def distinct(self, texts: Sequence[str]) -> list[bytes]:
        """Returns the distinct ids of each text for `chunk.pieces`; read them with `decoded`."""
        return [encoded(np.unique(ids)) for ids in self._ids(texts)]

    def _ids(self, texts: Sequence[str]) -> list[Pieces]:
        encodings = self._tokenizer.encode_batch_fast([_cut(text) for text in texts], add_special_tokens=False)
        every = (np.array(encoding.ids, np.uint16) for encoding in encodings)
        return [ids[ids > _SPECIAL] for ids in every]


def chunk_text(title: str, headings: Sequence[str], content: str) -> str:
    """Returns the text that a chunk's wordpieces are made of: title (empty if there is none, because file names are
    rarely words), the other headings, content.
    """
    return " ".join([title, *(heading for heading in headings if heading != title), content]).strip()


def encoded(rising: Pieces) -> bytes:
    """Encodes rising ids as differences: a byte each, with a byte of 255 before it for each 255 in the difference."""
    steps = rising.astype(np.int64)
    steps[1:] -= steps[:-1].copy()
    found = np.full(len(steps) + int((steps // _CARRY).sum()), _CARRY, np.uint8)
    found[np.cumsum(steps // _CARRY + 1) - 1] = steps % _CARRY
    return found.tobytes()


def decoded(stored: Sequence[bytes]) -> tuple[Pieces, NDArray[np.intp]]:
    """Returns (the ids of all texts in sequence, rising within each; where those of each text begin)."""
    every = np.frombuffer(b"".join(stored), np.uint8)
    sums, own = np.cumsum(every, dtype=np.int64), every < _CARRY
    begins = np.cumsum([0, *map(len, stored)])
    before = np.concatenate([[0], sums])[begins[:-1]]
    places = np.concatenate([[0], np.cumsum(own)])[begins]
    ids = sums[own] - np.repeat(before, np.diff(places))
    return ids.astype(np.uint16), places[:-1]


def separated(stored: Sequence[bytes]) -> list[Pieces]:
    """Returns the ids of each text by itself."""
    ids, starts = decoded(stored)
    return [ids[start:end].copy() for start, end in pairwise([*starts.tolist(), len(ids)])]


def _cut(text: str) -> str:
    return encodable(text[: MOST_TOKENS * _LONGEST_TOKEN])
