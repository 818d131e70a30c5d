"""The lexical leg: what BM25 finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from contracts.retrieval import QueryReport
from relevance.analysis import Analyzer
from retrieval.lexical.cache import PostingCache
from retrieval.lexical.columns import Int64s
from retrieval.lexical.search import MOST_CHECKED, LexicalSearch
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.leg import Leg, LegQuery, SearchLimits
from retrieval.reading.reader import IndexReader


class LexicalLeg(Leg):
    """Ranks by BM25.

    `bm25_share` is BM25 divided by the sum of the query's word weights, `all_terms` 1 if the chunk has every word of
    the query, and `phrases` the share of the query's phrases that it has. Features are read on the search's own
    connection, so only once all legs have found what they find.
    """

    kind, weight, score, every_wording = "lexical", 1.0, "bm25", True
    # Outside the grid search: a quoted phrase should outweigh a word or two.
    columns = (Feature("bm25_share", 0.3), Feature("all_terms", 0.2), Feature("phrases", 0.3))
    search: LexicalSearch | None = None
    matched: Mapping[int, list[str]] = {}

    def __init__(self, analyzer: Analyzer, limits: SearchLimits) -> None:
        super().__init__(limits.lexical_seconds)
        self.analyzer = analyzer
        self.postings = PostingCache(limits.posting_bytes)

    def applies(self, leg_query: LegQuery) -> bool:
        return super().applies(leg_query) or leg_query.query.conditions

    def required(self) -> bool:
        return self.leg_query.query.conditions

    async def find(self) -> None:
        leg_query = self.leg_query
        async with leg_query.snapshot.own() as reader:
            search = LexicalSearch(reader, self.postings, self.analyzer, leg_query.query)
            documents = None if leg_query.scope is None else leg_query.scope.documents
            await search.open(leg_query.snapshot.state, documents, leg_query.parameters)
            self.found = await search.best(leg_query.depth)
        self.search, self.method = search, _method(search)

    async def features(self, chunks: Sequence[int]) -> Columns:
        return await self.search.features(chunks) if self.search else {}

    async def explain(self, reader: IndexReader, chunks: Sequence[int]) -> None:  # noqa: ARG002
        self.matched = await self.search.matched(chunks) if self.search else {}

    def explanation(self, chunk: int) -> Mapping[str, list[str]]:
        return {"matched_terms": self.matched.get(chunk, [])}

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of the query's terms; none if the leg failed."""
        return self.search.query.weights if self.search else {}

    async def chunks_with(self, text: str) -> Int64s:
        """Returns all chunks that have every word of the text; none if this leg failed."""
        return await self.search.chunks_with(text) if self.search else np.empty(0, np.int64)

    def word_weight(self, text: str) -> float:
        """Returns the IDF of the query's rarest word in the text; 0 for stop words, 1 if the leg failed."""
        return self.search.weight(text) if self.search else 1.0

    def report(self) -> QueryReport | None:
        """Returns how the query was read; None if the leg failed."""
        parsed, search = self.leg_query.query, self.search
        if search is None:
            return None
        return QueryReport(
            text=parsed.text,
            terms=sorted(search.words.terms),
            phrases=list(parsed.phrases),
            prefixes=list(parsed.prefixes),
            excluded=list(parsed.excluded),
            fields={name: list(values) for name, values in parsed.fields.items()},
            corrected=search.words.corrected,
        )


def _method(search: LexicalSearch) -> str:
    words = search.query.words
    notes = [f"{sum(1 for word in words if word.weights)} of {len(words)} terms known"]
    if search.words.left_out:
        notes.append(f"{search.words.left_out} left out")
    if search.words.corrected:
        notes.append(f"{len(search.words.corrected)} corrected")
    if search.bounded:
        notes.append(f"conditions checked in the best {MOST_CHECKED} only")
    return f"bm25: {', '.join(notes)}"
