"""Prepares texts for recall: terms, wordpieces, and the vector if the embedding model responds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pgvector import Vector as PgVector

from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces

log = logging.getLogger(__name__)
MOST_BEFORE = 500  # characters


@dataclass(frozen=True)
class PreparedText:
    """`embedding` is in pgvector's text format; it and `model` are None until the text is embedded."""

    terms: list[str]
    pieces: bytes
    model: str | None
    embedding: str | None


class Preparation:
    """Prepares texts. If the model is unavailable, they are embedded later, in the background."""

    def __init__(self, embedder: Embedder, analyzer: Analyzer, pieces: WordPieces) -> None:
        self.embedder, self.analyzer, self.pieces = embedder, analyzer, pieces

    @property
    def unsearched(self) -> PreparedText:
        """Returns what is stored with a text that is never searched for: nothing, and nothing is missing."""
        return PreparedText([], b"", self.embedder.space.model, None)

    async def prepare(self, texts: Sequence[str], in_context: Sequence[str]) -> list[PreparedText]:
        """Prepares texts; `in_context` are the texts to embed, from `said_in_context`."""
        try:
            return await self.embedded(texts, in_context)
        except EmbeddingError as error:
            log.warning("texts not embedded; will retry later", exc_info=error)
            return await self.unembedded(texts)

    async def embedded(self, texts: Sequence[str], in_context: Sequence[str]) -> list[PreparedText]:
        """Prepares and embeds texts. Raises EmbeddingError."""
        vectors = [PgVector(one).to_text() for one in await self.embedder.embed(in_context)]
        model, words = self.embedder.space.model, zip(*await self.words(texts), strict=True)
        return [PreparedText(*one, model, vector) for one, vector in zip(words, vectors, strict=True)]

    async def unembedded(self, texts: Sequence[str]) -> list[PreparedText]:
        """Prepares texts without embedding them; this happens later, in the background."""
        return [PreparedText(*one, None, None) for one in zip(*await self.words(texts), strict=True)]

    async def words(self, texts: Sequence[str]) -> tuple[list[list[str]], list[bytes]]:
        """Returns the terms and the wordpieces of each text."""
        return await asyncio.to_thread(
            lambda: ([self.analyzer.terms(text) for text in texts], self.pieces.distinct(texts))
        )


@dataclass(frozen=True)
class SpokenText:
    """A message's speaker (empty: the user) and text."""

    speaker: str
    content: str


def said_in_context(text: SpokenText, before: SpokenText | None) -> str:
    """Returns the text to embed for a message: how the one before it in its session begins, then the message itself.

    A longer beginning would leave no room for the message in what a model reads.
    """
    own = _line(text)
    return f"{_line(before)[:MOST_BEFORE]}\n{own}" if before else own


def _line(text: SpokenText) -> str:
    return f"{text.speaker}: {text.content}" if text.speaker else text.content


def estimated_tokens(text: str) -> int:
    """Estimates the number of tokens: one per four bytes, rounded up."""
    return -(-len(text.encode()) // 4)
