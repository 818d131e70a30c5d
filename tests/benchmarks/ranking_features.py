"""The candidates of judged questions with all that is cheap to know of them, through the service's own code."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import numpy as np
from benchmarks.retrieval_quality import Bench, Dataset
from numpy.typing import NDArray

from contracts.retrieval import SearchMode
from retrieval.dense.leg import DenseLeg
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.leg import LexicalLeg
from retrieval.ranking.fusion import FEATURES
from retrieval.ranking.matching import Matching
from retrieval.search.candidates import Candidates, Wording, collect
from retrieval.search.leg import Asked, Leg
from retrieval.tuning.judged import Passage
from retrieval.tuning.store import stored_settings
from retrieval.tuning.tuning import Tuning

Floats = NDArray[np.float64]
DEPTH = 100  # candidates of each leg
NEAR = 8  # places, stop words not counted, that two words of the query may be apart
MORE = ("bm25_of_best", "cosine_of_best", "lexical_rank", "dense_rank", "matched_share", "nearness", "log_terms")
NAMES = (*FEATURES, *MORE)
RANK_K = 10.0


@dataclass(frozen=True)
class Listed:
    """The candidates of one question, best first by the shipped rule, whose scores are `shipped`.

    `features` (candidates, NAMES); `grades` of the candidates, `ideal` of all that answer, the best first.
    """

    features: Floats
    shipped: Floats
    grades: NDArray[np.int64]
    ideal: NDArray[np.int64]


async def listed(bench: Bench, folder: Path) -> list[Listed]:
    """Of every question of a set; kept in the system's temporary folder, by the set's questions."""
    dataset = Dataset.read(folder)
    key = hashlib.sha256(repr((dataset.name, dataset.questions, NAMES, DEPTH)).encode()).hexdigest()[:24]
    default = Path(tempfile.gettempdir()) / "attractor-features"
    file = Path(os.environ.get("FEATURE_CACHE", default)) / f"{key}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        workspace_id = await bench.index_dataset(dataset)
        own = [
            await _of_question(bench, workspace_id, text, dataset.grades[one], matching)
            for matching in [Matching()]
            for one, text in dataset.questions
        ]
        columns = {f"{name}{at}": getattr(one, name) for at, one in enumerate(own) for name in Listed.__annotations__}
        np.savez_compressed(file, **columns)
    with np.load(file) as kept:
        count = sum(name.startswith("ideal") for name in kept.files)
        return [Listed(*(kept[f"{name}{at}"] for name in Listed.__annotations__)) for at in range(count)]


async def _of_question(
    bench: Bench, workspace_id: UUID, text: str, grades: dict[str, int], matching: Matching
) -> Listed:
    legs = bench.search.legs
    async with legs.store.snapshot(workspace_id, 60) as snapshot:
        tuning = Tuning.of(await stored_settings(snapshot.reader.connection, workspace_id))
        space = (bench.embedder.space.model, bench.embedder.space.dims)
        asked = Asked(snapshot, text, None, space, DEPTH, False, tuning.parameters)
        lexical, dense = await asyncio.gather(legs.lexical(asked), legs.dense(asked))
        rule = replace(tuning.rule, mode=SearchMode.hybrid)
        found = await collect(snapshot.reader, rule, [Wording(text, lexical, dense)], None, matching)
        rows = await snapshot.reader.rows("candidate_names", chunks=list(found.features))
    passages = {row[0]: Passage(*row) for row in rows}
    order = found.best(len(found.scores))
    return Listed(
        features=np.array(_features(order, found, lexical, dense, passages, bench.analyzer)).reshape(-1, len(NAMES)),
        shipped=np.array([found.scores[chunk] for chunk in order]),
        grades=np.array([grades.get(passages[chunk].name, 0) for chunk in order], np.int64),
        ideal=np.array(sorted(grades.values(), reverse=True), np.int64),
    )


def _features(
    order: Sequence[int],
    found: Candidates,
    lexical: LexicalLeg,
    dense: DenseLeg,
    passages: dict[int, Passage],
    analyzer: Analyzer,
) -> list[list[float]]:
    best_bm25, best_cosine = max(found.bm25.values(), default=0.0), max(found.cosines.values(), default=0.0)
    by_words, by_meaning = _ranks(lexical), _ranks(dense)
    asked = len(lexical.query.words) if lexical.query else 0
    rows = []
    for chunk in order:
        terms, matched = analyzer.terms(passages[chunk].content), found.matched(chunk)
        rows.append(
            [
                *found.features[chunk].as_dict().values(),
                found.bm25.get(chunk, 0.0) / best_bm25 if best_bm25 else 0.0,
                found.cosines.get(chunk, 0.0) - best_cosine,
                1 / (RANK_K + by_words[chunk]) if chunk in by_words else 0.0,
                1 / (RANK_K + by_meaning[chunk]) if chunk in by_meaning else 0.0,
                len(matched) / asked if asked else 0.0,
                nearness(terms, set(matched)),
                float(np.log1p(len(terms))),
            ]
        )
    return rows


def _ranks(leg: Leg) -> dict[int, int]:
    return {one.chunk: rank for rank, one in enumerate(leg.found, 1)}


def nearness(terms: Sequence[str], matched: set[str]) -> float:
    """The share of the matched terms that stand near another one of them."""
    places = [(at, term) for at, term in enumerate(terms) if term in matched]
    near = set[str]()
    for (before, one), (after, other) in pairwise(places):
        if one != other and after - before <= NEAR:
            near |= {one, other}
    return len(near) / len(matched) if matched else 0.0
