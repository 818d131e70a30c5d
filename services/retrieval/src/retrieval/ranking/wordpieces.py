"""The wordpieces of a text in a few bytes: what `soft_match` needs to know of a chunk.

Whatever the embedding space, they are those of the bundled encoder's vocabulary, for which the package holds a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.tokens import load_minilm_tokenizer
from inference.unicode import encodable

Pieces: TypeAlias = NDArray[np.uint16]
MOST_TOKENS = 254  # as many as the encoder reads of a text, besides the two special ones
_LONGEST_TOKEN = 100  # characters; bounds what is tokenized of a text of many megabytes
_STORED = np.dtype("<u2")
_SPECIAL = 103  # ids up to [MASK] are placeholders and no pieces of text


class WordPieces:
    """May be used from several threads at once."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        """`tokenizer`: of the bundled encoder, where it is loaded already. It is copied."""
        self._tokenizer = Tokenizer.from_str((tokenizer or load_minilm_tokenizer()).to_str())
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def of(self, text: str) -> Pieces:
        """The ids in their order, repeats included; of a long text the first 254."""
        return self._ids([text])[0]

    def distinct(self, texts: Sequence[str]) -> list[bytes]:
        """Of each text the distinct ids, for `chunk.pieces`; read them with `decoded`."""
        return [np.unique(ids).astype(_STORED).tobytes() for ids in self._ids(texts)]

    def _ids(self, texts: Sequence[str]) -> list[Pieces]:
        cut = [encodable(text[: MOST_TOKENS * _LONGEST_TOKEN]) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        every = (np.array(encoding.ids, np.uint16) for encoding in encodings)
        return [ids[ids > _SPECIAL] for ids in every]


def chunk_text(title: str, headings: Sequence[str], content: str) -> str:
    """What of a chunk its wordpieces are taken from: the document's title, the other headings, the content."""
    return " ".join([title, *(heading for heading in headings if heading != title), content]).strip()


def decoded(stored: bytes) -> Pieces:
    """The distinct ids, rising."""
    return np.frombuffer(stored, _STORED)
