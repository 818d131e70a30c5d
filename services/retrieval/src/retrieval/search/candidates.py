"""The candidates of a search: a table of what the legs found, with a column for every feature, and its ranking."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from contracts.retrieval import SearchMode
from retrieval.ranking import fusion
from retrieval.ranking.answerability import COMPARED, LOOKED_AT, match
from retrieval.ranking.features import Columns, Feature, Floats
from retrieval.ranking.rule import RankingRule
from retrieval.reading.leg import EXCLUDED, Leg, LegQuery
from retrieval.search.texts import CandidateTexts


class Table:
    """Columns of chunks by name; NaN where a value is unknown."""

    def __init__(self) -> None:
        self.chunks: list[int] = []
        self.columns: dict[str, Floats] = {}

    def add(self, chunks: Sequence[int], columns: Columns) -> None:
        """Adds rows."""
        before, more = np.full(len(self.chunks), np.nan), np.full(len(chunks), np.nan)
        names = dict.fromkeys([*self.columns, *columns])
        self.columns = {
            name: np.concatenate([self.columns.get(name, before), columns.get(name, more)]) for name in names
        }
        self.chunks = [*self.chunks, *chunks]

    def rows(self, places: NDArray[np.intp]) -> Table:
        """Returns some of the rows."""
        found = Table()
        found.chunks = [self.chunks[place] for place in places.tolist()]
        found.columns = {name: column[places] for name, column in self.columns.items()}
        return found


class Candidates:
    """The candidates of all wordings. The first wording is the query itself: what it excludes is not ranked, whichever
    wording found it. The legs of the query alone have their columns in the table of every wording.

    `chunks`, `scores` and `tables` (by wording) are of the same length, in no particular order.
    """

    def __init__(self, rule: RankingRule, wordings: Sequence[LegQuery], texts: CandidateTexts) -> None:
        self.rule, self.wordings, self.texts = rule, wordings, texts
        self.rows = wordings[0].snapshot.candidates
        self.legs: list[Leg] = [leg for leg_query in wordings for leg in leg_query.legs.values()]
        self._read = [Table() for _ in wordings]  # of all chunks that were found at any time
        self.tables = self._read
        self.chunks: list[int] = []
        self.scores: Floats = np.empty(0)

    @property
    def heard(self) -> list[Leg]:
        """Returns the legs that say something of the candidates."""
        return [leg for leg in self.legs if not leg.void]

    @property
    def reported(self) -> list[Leg]:
        """Returns the legs that had something to ask, without those whose part is void because another one failed."""
        return [leg for leg in self.legs if not leg.skipped and (leg.error or not leg.void)]

    async def rank(self, changed: Iterable[Leg] = ()) -> None:
        """Reads the features of what the legs found since the last time, and scores all; `changed` legs have other
        features than before for the rest.
        """
        for leg in changed:
            if not leg.void:
                self._read[0].columns |= await leg.features(self._read[0].chunks)
        union = {one.chunk for leg in self.heard for one in leg.found}
        if missing := sorted(union.difference(self._read[0].chunks)):
            await self._measure(missing)
        places = [place for place, chunk in enumerate(self._read[0].chunks) if chunk in union]
        self.tables = [table.rows(np.array(places, np.intp)) for table in self._read]
        own = self.tables[0].columns
        alone = [leg for leg in self.wordings[0].legs.values() if not leg.every_wording]
        for name, void in [(one.name, leg.void) for leg in alone for one in leg.columns if one.name in own]:
            for table in self.tables:
                table.columns[name] = np.zeros(len(places)) if void else own[name]
        self.chunks = self.tables[0].chunks
        excluded = self._column(EXCLUDED) > 0
        admitted = np.flatnonzero(~excluded).tolist()
        self.scores = np.where(excluded, np.nan, self._scores({self.chunks[place]: place for place in admitted}))

    async def _measure(self, chunks: Sequence[int]) -> None:
        """Adds the rows of these chunks."""
        found = [
            [await leg.features(chunks) for leg in leg_query.legs.values() if not leg.void]
            for leg_query in self.wordings
        ]
        compared = await self.texts.columns(await self.rows.of(chunks), chunks, self.wordings)
        for table, own, text in zip(self._read, found, compared, strict=True):
            excluded = sum(
                (columns[EXCLUDED] for columns in [*own, text] if EXCLUDED in columns), np.zeros(len(chunks))
            )
            table.add(chunks, dict(chain(*(columns.items() for columns in own), text.items())) | {EXCLUDED: excluded})

    def order(self) -> list[int]:
        """Returns the ranked chunks: those with the query's phrases first, then by score, then by number."""
        phrases = self._column("phrases")
        ranked = np.flatnonzero(~np.isnan(self.scores))
        numbers = np.array(self.chunks, np.int64)[ranked]
        order: list[int] = numbers[np.lexsort((numbers, -self.scores[ranked], -phrases[ranked]))].tolist()
        return order

    def by_chunk(self) -> dict[int, float]:
        """Returns the scores of the ranked chunks."""
        pairs = zip(self.chunks, self.scores.tolist(), strict=True)
        return {chunk: score for chunk, score in pairs if not math.isnan(score)}

    def match(self, order: Sequence[int]) -> float:
        """Returns the probability that one of the first few hits answers the query, in any of its wordings."""
        if any(leg.answers(order) for leg in self.heard):
            return 1.0
        words, vectors = self._known("bm25"), self._known("cosine") and not self.rule.space.scaled
        places = np.array([self.chunks.index(chunk) for chunk in order[:LOOKED_AT]], np.intp)
        best = 0.0
        for table in self.tables:
            own = places[table.columns[EXCLUDED][places] == 0] if table.columns else places
            zeros = np.zeros(len(table.chunks))
            hits = {name: table.columns.get(name, zeros)[own] for name in COMPARED}
            best = max(best, match(hits, words=words, vectors=vectors))
        return best

    def features(self, chunk: int) -> dict[str, float]:
        """Returns a candidate's features for the query itself."""
        place, columns = self.chunks.index(chunk), self.tables[0].columns
        names = [one.name for one in self.rule.registry.features]
        return {name: float(np.nan_to_num(columns[name][place])) if name in columns else 0.0 for name in names}

    def score_of(self, leg: Leg, number: int, chunk: int) -> float | None:
        """Returns the leg's own score of a chunk, also if another leg found it and this one scores any."""
        columns = self.tables[number].columns
        if leg.score and leg.score in columns:
            score = float(columns[leg.score][self.chunks.index(chunk)])
            return None if math.isnan(score) else score
        return next((one.score for one in leg.found if one.chunk == chunk), None)

    def _column(self, name: str) -> Floats:
        return np.nan_to_num(self.tables[0].columns.get(name, np.zeros(len(self.chunks))))

    def _known(self, name: str) -> bool:
        return name in self.tables[0].columns and bool((~np.isnan(self.tables[0].columns[name])).any())

    def _scores(self, admitted: Mapping[int, int]) -> Floats:
        mode, count = self.rule.mode, len(self.chunks)
        if mode is SearchMode.rrf:
            return fusion.reciprocal_ranks(self._rankings(admitted), count, self.rule.rrf_k)
        places = {chunk: place for place, chunk in enumerate(self.chunks)}
        return fusion.of_wordings([self._of_wording(number, places) for number in range(len(self.wordings))])

    def _rankings(self, places: Mapping[int, int]) -> Iterable[tuple[float, NDArray[np.intp]]]:
        """Returns what each leg found, with its weight; the further wordings together count half as much as the query
        itself.
        """
        for number, leg_query in enumerate(self.wordings):
            part = 1.0 if number == 0 else 0.5 / (len(self.wordings) - 1)
            for leg in leg_query.legs.values():
                if leg.weight is not None and not leg.void:
                    yield part * self.rule.legs[leg.kind], _rows(leg, places)

    def _of_wording(self, number: int, places: Mapping[int, int]) -> Floats:
        columns, legs = self.tables[number].columns, self._legs(number)
        mode, count = self.rule.mode, len(self.chunks)
        if mode is SearchMode.convex:
            return fusion.convex(
                (
                    (self.rule.legs[leg.kind], fusion.scaled(_scores_of(leg, columns, places), _rows(leg, places)))
                    for leg in legs
                    if leg.weight is not None and (leg.found or leg.every_wording)
                ),
                count,
            )
        if mode is not SearchMode.hybrid:
            scores = (_scores_of(leg, columns, places) for leg in legs if leg.kind == mode.value)
            return next(scores, np.full(count, np.nan))
        return self._hybrid(columns, legs, places)

    def _hybrid(self, columns: Columns, legs: Sequence[Leg], places: Mapping[int, int]) -> Floats:
        features, weights = self.rule.registry.features, self.rule.space.weights
        if self.rule.space.scaled:
            by_model = [(leg, one.name) for leg in legs for one in leg.columns if one.elsewhere is not None]
            between = {
                name: fusion.scaled(columns[name], _rows(leg, places)) for leg, name in by_model if name in columns
            }
            columns = {**columns, **between}
        scores = fusion.weighted_sum(features, weights, columns, len(self.chunks))
        found = np.zeros(len(self.chunks), bool)
        for leg in legs:
            if leg.every_wording:
                found[_rows(leg, places)] = True
        factors: list[Feature] = [one for one in features if one.factor and one.name in columns]
        for one in factors:
            scores = fusion.reduced(scores, columns[one.name], weights[one.name], found)
        return np.where(np.nan_to_num(columns[EXCLUDED]) > 0, np.nan, scores) if EXCLUDED in columns else scores

    def _legs(self, number: int) -> list[Leg]:
        """Returns the legs that score for a wording: its own, and those of the query alone."""
        main, own = self.wordings[0].legs.values(), self.wordings[number].legs.values()
        legs = [leg for leg in own if leg.every_wording] + [leg for leg in main if not leg.every_wording]
        return [leg for leg in legs if not leg.void]


def _rows(leg: Leg, places: Mapping[int, int]) -> NDArray[np.intp]:
    """Returns the places of what the leg found, best first."""
    return np.array([places[one.chunk] for one in leg.found if one.chunk in places], np.intp)


def _scores_of(leg: Leg, columns: Columns, places: Mapping[int, int]) -> Floats:
    """Returns the leg's score of every candidate, or only of those that it found if it scores no others."""
    if leg.score is not None:
        return columns.get(leg.score, np.full(len(places), np.nan))
    scores = np.full(len(places), np.nan)
    for one in leg.found:
        if one.chunk in places:
            scores[places[one.chunk]] = one.score
    return scores
