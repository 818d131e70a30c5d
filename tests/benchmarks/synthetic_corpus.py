"""A synthetic corpus of any size, determined by its seed: texts and vectors are generated in batches and not stored.

Topics shape both the words and the vectors, so that the legs of a search agree to some degree. The vectors have the
spectrum and the neighbours' cosines of all-MiniLM-L6-v2 on SciFact (.66, .52, .39 to the 1st, 10th, 100th), with
documents of several chunks. 5,000 chunks have 28,000 distinct terms and 64 postings per chunk; as many of the PEPs have
22,000 and 58, of SciFact 22,000 and 51.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID, uuid5

import numpy as np
from benchmarks.synthetic_vocabulary import Int64s, Vocabulary, identifiers
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
DIMS = 384
SHARES = (0.70, 0.20, 0.09, 0.01)  # of the chunks, by workspace
BATCH = 16  # documents
CHUNKS_OF_A_TOPIC, TOPIC_WORDS = 400, 300
MEDIA_TYPES = (("text/markdown", "md", 0.5), ("application/pdf", "pdf", 0.3), ("text/html", "html", 0.2))
LANGUAGES = (("en", 0.85), ("de", 0.08), ("fr", 0.04), (None, 0.03))
TAGS = (("fifth", 0.2), ("hundredth", 0.01))
MEAN, TOPIC, DOCUMENT = 0.08, 0.26, 0.20  # shares of a vector's squared length; the chunk's own is the rest
NAMES = UUID("5b0f2a52-4f0c-4f0e-9a39-0d7a6ab1c0de")


@dataclass(frozen=True)
class SyntheticDocument:
    """`first_chunk` counts chunks through the whole corpus."""

    number: int
    first_chunk: int
    workspace: int
    title: str
    media_type: str
    name: str
    language: str | None
    tags: list[str]
    texts: list[str]
    headings: list[str]
    vectors: Matrix

    @property
    def document_id(self) -> UUID:
        return document_id(self.number)


@dataclass(frozen=True)
class Query:
    text: str
    vector: Matrix


def document_id(number: int) -> UUID:
    return uuid5(NAMES, f"document {number}")


def chunk_id(number: int) -> str:
    return hashlib.blake2b(b"%d" % number, digest_size=16).hexdigest()


def workspace_id(number: int) -> UUID:
    return uuid5(NAMES, f"workspace {number}")


class Corpus:
    """About `chunks` passages of 750 to 950 characters, in documents of 1 to 150 passages, 12 on average.

    `chunks` is the actual number, `wanted` the requested one, with which the same corpus can be generated again.
    """

    def __init__(self, chunks: int, seed: int = 1) -> None:
        self.seed, self.wanted, self.vocabulary = seed, chunks, Vocabulary(seed)
        dice = np.random.default_rng([seed, 2])
        sizes = np.clip(dice.lognormal(2.1, 0.85, size=chunks), 1, 150).astype(np.int64)
        self.sizes: Int64s = sizes[: int(np.searchsorted(np.cumsum(sizes), chunks)) + 1]
        count = len(self.sizes)
        self.first: Int64s = np.cumsum(self.sizes) - self.sizes
        self.chunks = int(self.sizes.sum())
        self.workspaces = dice.choice(len(SHARES), size=count, p=SHARES)
        self.media_types = dice.choice(len(MEDIA_TYPES), size=count, p=[share for _, _, share in MEDIA_TYPES])
        self.languages = dice.choice(len(LANGUAGES), size=count, p=[share for _, share in LANGUAGES])
        self.tagged = dice.random((count, len(TAGS))) < [share for _, share in TAGS]
        topics = max(8, self.chunks // CHUNKS_OF_A_TOPIC)
        popularity = (np.arange(topics) + 10.0) ** -0.7
        self.topics = dice.choice(topics, size=count, p=popularity / popularity.sum())
        words = self.vocabulary.telling_words(dice, topics * TOPIC_WORDS)
        self._topic_words = words.reshape(topics, TOPIC_WORDS)
        shape = np.arange(1, DIMS + 1)
        spectrum = shape**-0.7 * np.exp(-((shape / 200.0) ** 2))
        self._spread: Matrix = np.sqrt(spectrum / spectrum.sum()).astype(np.float32)
        self._turned: Matrix = np.linalg.qr(dice.normal(size=(DIMS, DIMS)))[0].astype(np.float32)
        self._mean = _unit(self._noise(dice, 1))[0]
        self._topic_vectors = self._noise(dice, topics)

    def __len__(self) -> int:
        """Returns the number of documents."""
        return len(self.sizes)

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[SyntheticDocument]:
        """Yields the documents from `start` up to, but not including, `stop`."""
        stop = len(self) if stop is None else min(stop, len(self))
        for batch in range(start // BATCH, -(-stop // BATCH)):
            texts, titles, headings = self._texts(batch)
            vectors = self.vectors(batch)
            first = self.first[batch * BATCH]
            for position, number in enumerate(self._numbers(batch)):
                if start <= number < stop:
                    part = slice(int(self.first[number] - first), int(self.first[number] - first + self.sizes[number]))
                    yield self._document(number, titles[position], texts[part], headings[part], vectors[part])

    @property
    def batches(self) -> int:
        return -(-len(self) // BATCH)

    def vectors(self, batch: int) -> Matrix:
        """Returns the unit vectors of the batch's chunks in order; without texts, all batches take seconds."""
        dice = np.random.default_rng([self.seed, 3, batch])
        numbers = self._numbers(batch)
        sizes = self.sizes[numbers]
        centre = self._topic_vectors[self.topics[numbers]] * TOPIC**0.5
        centre += self._noise(dice, len(numbers)) * DOCUMENT**0.5 + self._mean * MEAN**0.5
        own = self._noise(dice, int(sizes.sum())) * (1 - MEAN - TOPIC - DOCUMENT) ** 0.5
        return _unit((np.repeat(centre, sizes, axis=0) + own) @ self._turned)

    def workspace_of_chunks(self, batch: int) -> Int64s:
        numbers = self._numbers(batch)
        return np.repeat(self.workspaces[numbers], self.sizes[numbers])

    def queries(self, count: int, workspace: int = 0) -> list[Query]:
        """Returns distinct queries about chunks of the workspace: questions, keywords, identifiers, paraphrases."""
        dice = np.random.default_rng([self.seed, 4, workspace])
        found: dict[str, Query] = {}
        while len(found) < count:
            start = BATCH * int(dice.integers(self.batches))
            near = [one for one in self.documents(start, start + BATCH) if one.workspace == workspace]
            for document in near[:4]:  # of one batch, which costs the same
                at = int(dice.integers(len(document.texts)))
                text = self._question(dice, document.texts[at])
                vector = document.vectors[at : at + 1] * 0.45**0.5 + self._noise(dice, 1) @ self._turned * 0.55**0.5
                found[text] = Query(text, _unit(vector)[0])
        return list(found.values())[:count]

    def _question(self, dice: np.random.Generator, passage: str) -> str:
        common = set(self.vocabulary.texts[: self.vocabulary.stop_words])
        words = [word.strip(".,") for word in passage.split()]
        informative = [word for word in words if word.lower() not in common]
        names = [word for word in informative if not word.islower() and not word.istitle()]
        kind = dice.random()
        if kind < 0.1 and names:
            return " ".join(dice.choice(names, size=1)) + f" {dice.choice(informative)}"
        if kind < 0.35:
            return " ".join(dice.choice(informative, size=int(dice.integers(2, 5)), replace=False))
        chosen = list(dice.choice(informative, size=int(dice.integers(3, 7)), replace=False))
        if kind > 0.8:  # paraphrased
            chosen[1:] = list(self.vocabulary.texts[self.vocabulary.any_words(dice, len(chosen) - 1)])
        start = int(dice.integers(len(words) - 6))
        return " ".join(["what", "is", *words[start : start + 4], "of", *chosen]) + "?"

    def _numbers(self, batch: int) -> Int64s:
        return np.arange(batch * BATCH, min(len(self), (batch + 1) * BATCH))

    def _noise(self, dice: np.random.Generator, count: int) -> Matrix:
        """Returns random vectors of expected length 1."""
        return dice.standard_normal((count, DIMS), dtype=np.float32) * self._spread

    def _texts(self, batch: int) -> tuple[list[str], list[str], list[str]]:
        """Returns texts of the chunks, titles of the documents, and headings of the chunks."""
        dice = np.random.default_rng([self.seed, 5, batch])
        numbers = self._numbers(batch)
        sizes = self.sizes[numbers]
        documents = np.repeat(np.arange(len(numbers)), sizes)  # by chunk, within the batch
        lengths = np.clip(dice.normal(120, 8, size=len(documents)), 90, 150).astype(np.int64)
        words = self._words(dice, numbers, np.repeat(documents, lengths))
        ends = np.cumsum(lengths)
        texts = [_sentences(words[end - length : end], dice) for end, length in zip(ends, lengths, strict=True)]
        titles, headings = [], []
        for number, size in zip(numbers, sizes, strict=True):
            picked = self._topic_words[self.topics[number]][dice.integers(60, size=5 + int(size) // 4)]
            names = self.vocabulary.texts[np.append(picked, self.vocabulary.telling_words(dice, 2))]
            titles.append(" ".join(names[-5:]).capitalize())
            headings += [str(names[at // 4]).capitalize() for at in range(int(size))]
        return texts, titles, headings

    def _words(self, dice: np.random.Generator, numbers: Int64s, documents: Int64s) -> list[str]:
        """Returns a word for each position; `documents` is its document within the batch."""
        count, vocabulary = len(documents), self.vocabulary
        indexes = vocabulary.any_words(dice, count)
        kind = dice.random(count)
        stop = kind < 0.36
        indexes[stop] = vocabulary.stop_words_of(dice, int(stop.sum()))
        of_topic = (kind >= 0.36) & (kind < 0.58)
        ranks = (TOPIC_WORDS ** dice.random(int(of_topic.sum()))).astype(np.int64) - 1
        indexes[of_topic] = self._topic_words[self.topics[numbers[documents[of_topic]]], ranks]
        own = vocabulary.telling_words(dice, len(numbers) * 12).reshape(-1, 12)
        of_document = (kind >= 0.58) & (kind < 0.70)
        indexes[of_document] = own[documents[of_document], dice.integers(12, size=int(of_document.sum()))]
        words: list[str] = vocabulary.texts[indexes].tolist()
        names = identifiers(dice, vocabulary.texts[vocabulary.telling_words(dice, 8 * len(numbers))].tolist())
        named = np.flatnonzero(kind > 0.992)
        picked = documents[named] * 4 + dice.integers(4, size=len(named))
        for position, name in zip(named.tolist(), picked.tolist(), strict=True):
            words[position] = names[name]
        return words

    def _document(
        self, number: int, title: str, texts: list[str], headings: list[str], vectors: Matrix
    ) -> SyntheticDocument:
        media_type, ending, _ = MEDIA_TYPES[self.media_types[number]]
        return SyntheticDocument(
            number=int(number),
            first_chunk=int(self.first[number]),
            workspace=int(self.workspaces[number]),
            title=title,
            media_type=media_type,
            name=f"{title.lower().replace(' ', '-')}-{number}.{ending}",
            language=LANGUAGES[self.languages[number]][0],
            tags=[tag for (tag, _), has in zip(TAGS, self.tagged[number], strict=True) if has],
            texts=texts,
            headings=headings,
            vectors=vectors,
        )


def _sentences(words: list[str], dice: np.random.Generator) -> str:
    at = 0
    for length in dice.integers(8, 20, size=len(words) // 8 + 1).tolist():
        words[at] = words[at][:1].upper() + words[at][1:]
        at += length
        words[min(at, len(words)) - 1] += "."
        if at >= len(words):
            break
    return " ".join(words)


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
