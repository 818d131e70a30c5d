"""Scores memories one after another, without an index: by the definition of each feature (`memory.recall.index`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.recall.dates import asks, asks_when, named_date, tells_time
from memory.recall.index import HALF_LIFE_DAYS, WEIGHTS, IndexedMemory, RecallQuestion
from memory.recall.postings import AROUND, K1, B
from relevance.bm25 import idf
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WeightedPieces, decoded


def scanned(rows: Sequence[IndexedMemory], question: RecallQuestion, soft_match: SoftMatch) -> dict[UUID, float]:
    """Returns the score of every memory that shares a word, a direction or a date with the question.

    `rows` are in the order in which they were said, and nobody but the user speaks.
    """
    bags = _bags(rows)
    mean_length = sum(sum(bag.values()) for bag in bags) / max(len(rows), 1)
    words = [_share(bag, mean_length, rows, question) for bag in bags]
    cosines = [_cosine(one.vector, question.vector) for one in rows]
    dated = named_date(question.text)
    near = [0.0 if dated is None else dated.nearness(_day(one.said_at)) for one in rows]
    found = [at for at in range(len(rows)) if words[at] > 0 or cosines[at] > 0 or near[at] > 0.3]
    scores = {}
    for at in found:
        row = rows[at]
        features = {
            "cos": cosines[at],
            "words": words[at],
            "soft_match": _soft(row, rows, question, soft_match),
            "on_date": near[at],
            "tells_time": float(tells_time(row.content) and asks_when(question.text)),
            "asks": float(asks(row.content)),
            "other_speaker": 0.0,
            "recency": 0.5 ** (max((question.now - row.said_at).total_seconds() / 86_400, 0) / HALF_LIFE_DAYS),
        }
        scores[row.id] = sum(WEIGHTS[name] * value for name, value in features.items())
    return scores


def _cosine(one: NDArray[np.float32] | None, other: NDArray[np.float32] | None) -> float:
    return 0.0 if one is None or other is None else float(one @ other)


def _bags(rows: Sequence[IndexedMemory]) -> list[Counter[str]]:
    """Returns each message's words, and those of the messages around it in its session for less."""
    sessions: dict[Any, list[IndexedMemory]] = defaultdict(list)
    for row in rows:
        sessions[row.session_id or row.id].append(row)
    bags = []
    for row in rows:
        said, bag = sessions[row.session_id or row.id], Counter[str]()
        for distance, weight in AROUND.items():
            if 0 <= (at := said.index(row) + distance) < len(said):
                for term in said[at].terms:
                    bag[term] += weight  # type: ignore[assignment]
        bags.append(bag)
    return bags


def _share(bag: Counter[str], mean_length: float, rows: Sequence[IndexedMemory], question: RecallQuestion) -> float:
    saturation = K1 * (1 - B + B * sum(bag.values()) / max(mean_length, 1e-9))
    score = ideal = 0.0
    for term in question.terms:
        weight = idf(len(rows), sum(term in one.terms for one in rows))
        ideal += weight
        score += weight * bag[term] / (bag[term] + saturation)
    return score / max(ideal, 1e-9)


def _soft(row: IndexedMemory, rows: Sequence[IndexedMemory], question: RecallQuestion, soft_match: SoftMatch) -> float:
    pieces = [set(decoded([one.pieces])[0].tolist()) for one in rows]
    counts = [sum(piece in one for one in pieces) for piece in question.pieces.ids.tolist()]
    rarity = [math.log(1 + (len(rows) - count + 0.5) / (count + 0.5)) for count in counts]
    weighted = WeightedPieces(question.pieces.ids, question.pieces.weights * rarity)
    return float(soft_match(weighted, [row.pieces])[0])


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
