"""The index of one user's memories: finds those that answer a question, without a chat model.

    score = cos + 1.5 words + .6 soft_match + .6 on_date + .3 tells_time - .2 asks - .15 other_speaker + .02 recency

- cos: cosine of the question with the message, which was embedded together with the one before it.
- words: BM25 over the message's bag (`postings`) as a share of the ideal score. Names of speakers do not count.
- soft_match: how much of the question the message says in other words (`relevance.soft_match`).
- on_date: the question names a day, month or year, and the message was said then or soon after.
- tells_time: the question asks when, and the message has an expression of time.
- asks: the message ends in a question, so the answer is in the next one, which has these words in its bag.
- other_speaker: the question names one speaker, and the message is another's.
- recency: 1 now, one half after 90 days.

Candidates are the best 100 by words, the best 100 by cosine, and up to 100 near a date that the question names. All
scales are absolute, so a weight means the same among 50 memories and a million (Bruch et al. 2023).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.recall.dates import NamedDate, asks, asks_when, named_date, tells_time
from memory.recall.growing import GrowingArray
from memory.recall.postings import Bags, Floats
from memory.recall.vectors import MemoryVectors, best
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WeightedPieces, WordPieces, decoded

WEIGHTS = {
    "cos": 1.0,
    "words": 1.5,
    "soft_match": 0.6,
    "on_date": 0.6,
    "tells_time": 0.3,
    "asks": -0.2,
    "other_speaker": -0.15,
    "recency": 0.02,
}
DEPTH = 100
HALF_LIFE_DAYS = 90.0
_NAME = re.compile(r"\w+")
_DAY = 86_400.0
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class IndexedMemory:
    """A memory to index. `session_id` is None if it belongs to no session."""

    id: UUID
    kind: str
    session_id: UUID | None
    speaker: str
    said_at: datetime
    content: str
    terms: list[str]
    pieces: bytes
    vector: NDArray[np.float32] | None


@dataclass(frozen=True)
class RecallQuestion:
    """A prepared question. `vector` is None if the model is unavailable; `kinds` limits the results, unless empty."""

    text: str
    terms: Sequence[str]
    pieces: WeightedPieces
    vector: NDArray[np.float32] | None
    kinds: frozenset[str]
    now: datetime
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RankedMemories:
    """Candidates, best first: ids, scores, and the features of the scores (arrays with a value per candidate)."""

    ids: list[UUID]
    scores: Floats
    features: Mapping[str, Floats]


class MemoryIndex:
    """An index that memories are added to. Not thread-safe."""

    def __init__(self, dims: int, soft_match: SoftMatch, analyzer: Analyzer, tokenizer: WordPieces) -> None:
        self.ids: list[UUID] = []
        self._bags, self._soft_match = Bags(), soft_match
        self._analyzer, self._tokenizer = analyzer, tokenizer
        self._vectors = MemoryVectors(dims)
        self._days = GrowingArray(np.float64)
        self._kinds, self._speakers, self._dates = (GrowingArray(np.int64) for _ in range(3))
        self._asks, self._tells_time = GrowingArray(np.float64), GrowingArray(np.float64)
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0
        self._piece_frequency = np.zeros(len(soft_match.table), np.int64)
        self._places: dict[UUID, int] = {}
        self._names: dict[str, dict[object, int]] = {"session": {}, "kind": {}, "speaker": {}, "date": {}}
        self._last: dict[int, list[tuple[int, Mapping[str, int]]]] = {}
        self._name_terms: set[str] = set()
        self._name_pieces: set[int] = set()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Returns the approximate size in memory."""
        return self._vectors.nbytes + self._bags.nbytes + self._pieces_bytes + 300 * len(self)

    @property
    def unembedded(self) -> int:
        """Returns how many memories have no vector."""
        return self._vectors.missing

    def put(self, rows: Iterable[IndexedMemory]) -> None:
        """Adds memories, and the vectors of those that are already indexed."""
        new = list[IndexedMemory]()
        for row in rows:
            if (place := self._places.get(row.id)) is None:
                self._append_words(row)
                new.append(row)
            elif row.vector is not None:
                self._vectors.put(place, row.vector)
        if not new:
            return
        days = [row.said_at.timestamp() / _DAY for row in new]
        self._days.append(days)
        self._dates.append([self._number("date", int(day // 1)) for day in days])
        self._kinds.append([self._number("kind", row.kind) for row in new])
        self._speakers.append([self._number("speaker", row.speaker.lower()) for row in new])
        self._asks.append([float(asks(row.content)) for row in new])
        self._tells_time.append([float(tells_time(row.content)) for row in new])
        self._pieces += (row.pieces for row in new)
        self._pieces_bytes += sum(len(row.pieces) for row in new)
        self._piece_frequency += np.bincount(
            decoded([row.pieces for row in new])[0], minlength=len(self._piece_frequency)
        )
        self._vectors.append([row.vector for row in new])

    def _append_words(self, row: IndexedMemory) -> None:
        place, session = len(self.ids), self._number("session", row.session_id or row.id)
        counts, before = Counter(row.terms), self._last.setdefault(session, [])
        self._bags.append(counts, before[::-1])
        if row.session_id is not None:
            self._last[session] = [*before[-1:], (place, counts)]
        self._places[row.id] = place
        self.ids.append(row.id)

    def find(self, question: RecallQuestion) -> RankedMemories:
        """Returns the candidates, best first."""
        nothing = RankedMemories([], np.zeros(0), {})
        if not len(self):
            return nothing
        words = self._bags.shares([term for term in question.terms if term not in self._name_terms])
        dated = named_date(question.text)
        near = None if dated is None else self._near(dated)[self._dates.rows]
        at = self._candidates(question, words, near)
        if not len(at):
            return nothing
        features = self._features(question, at, words, near)
        scores = np.zeros(len(at))
        for name, values in features.items():
            if name not in question.without:
                scores += WEIGHTS[name] * values
        order = np.argsort(-scores, kind="stable")
        ids = [self.ids[one] for one in at[order].tolist()]
        return RankedMemories(ids, scores[order], {name: values[order] for name, values in features.items()})

    def _candidates(
        self, question: RecallQuestion, words: NDArray[np.float32], near: Floats | None
    ) -> NDArray[np.int64]:
        """Returns the places of the best memories by words, by cosine, and near the date that the question names.

        The words of memories of other kinds than the question wants are set to 0.
        """
        allowed = self._allowed(question.kinds)
        if allowed is not None:
            words *= allowed
        legs = [best(words, DEPTH)]
        if question.vector is not None:
            legs.append(self._vectors.nearest(question.vector, DEPTH, allowed))
        if near is not None:
            close = np.flatnonzero(near > 0.3)
            nearness = near[close] * (1 + words[close]) * (1 if allowed is None else allowed[close])
            legs.append(close[best(nearness, DEPTH)])
        return np.unique(np.concatenate(legs))

    def _features(
        self, question: RecallQuestion, at: NDArray[np.int64], words: NDArray[np.float32], near: Floats | None
    ) -> dict[str, Floats]:
        """Returns what the scores are made of, with a value for each of the places."""
        named = self._named(question.text)
        ages = np.maximum(question.now.timestamp() / _DAY - self._days.rows[at].astype(np.float64), 0)
        return {
            "cos": np.zeros(len(at)) if question.vector is None else self._vectors.cosines(question.vector, at),
            "words": words[at].astype(np.float64),
            "soft_match": self._soft(question.pieces, at),
            "on_date": np.zeros(len(at)) if near is None else near[at],
            "tells_time": self._tells_time.rows[at].astype(np.float64) * asks_when(question.text),
            "asks": self._asks.rows[at].astype(np.float64),
            "other_speaker": ((len(named) == 1) & ~np.isin(self._speakers.rows[at], list(named))).astype(np.float64),
            "recency": 0.5 ** (ages / HALF_LIFE_DAYS),
        }

    def _number(self, what: str, name: object) -> int:
        numbers = self._names[what]
        if name not in numbers:
            numbers[name] = len(numbers)
            if what == "speaker" and isinstance(name, str) and name not in ("", "assistant"):
                self._name_terms.update(self._analyzer.terms(name))
                self._name_pieces.update(decoded(self._tokenizer.distinct([name]))[0].tolist())
        return numbers[name]

    def _allowed(self, kinds: frozenset[str]) -> NDArray[np.bool_] | None:
        """Returns for each memory whether it is of one of the kinds; None if all are allowed."""
        if not kinds:
            return None
        numbers = [number for name, number in self._names["kind"].items() if name in kinds]
        return np.isin(self._kinds.rows, numbers)

    def _near(self, named: NamedDate) -> Floats:
        """Returns for each day, by its number, how near it is to the date."""
        days = [day for day in self._names["date"] if isinstance(day, int)]
        return np.array([named.nearness(date.fromordinal(_EPOCH + day)) for day in days])

    def _named(self, question: str) -> set[int]:
        """Returns the numbers of the speakers that the question names."""
        words = set(_NAME.findall(question.lower()))
        return {
            number
            for name, number in self._names["speaker"].items()
            if isinstance(name, str) and name not in ("", "assistant") and words.issuperset(_NAME.findall(name))
        }

    def _soft(self, pieces: WeightedPieces, at: NDArray[np.int64]) -> Floats:
        frequency = self._piece_frequency[pieces.ids]
        weights = np.log(1 + (len(self) - frequency + 0.5) / (frequency + 0.5)) * pieces.weights
        weights[np.isin(pieces.ids, list(self._name_pieces))] = 0
        return self._soft_match(WeightedPieces(pieces.ids, weights), [self._pieces[one] for one in at.tolist()])
