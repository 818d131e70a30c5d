"""Words: what BM25 finds."""

from __future__ import annotations

from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.bm25 import WeightedQuery, weighted
from retrieval.search.leg import Asked, Leg
from retrieval.search.reader import IndexReader

MOST_TERMS = 48  # of a query; of a longer one the rarest are asked for
RARITY_CEILING = 300  # chunks; counting further would not change which terms are rare


class LexicalLeg(Leg):
    """BM25. `query` is set when the terms could be weighed."""

    query: WeightedQuery | None = None

    async def run(self, reader: IndexReader, asked: Asked, analyzer: Analyzer) -> None:
        terms = analyzer.terms(asked.query)
        distinct = list(dict.fromkeys(terms))
        if len(distinct) > MOST_TERMS:
            kept = set(await reader.rarest(distinct, MOST_TERMS, RARITY_CEILING))
            terms = [term for term in terms if term in kept]
        chunks, total = await reader.size()
        self.query = weighted(terms, await reader.frequencies(list(dict.fromkeys(terms))), chunks, total)
        self.found = await reader.lexical(self.query, asked.scope, asked.depth)
        dropped = len(distinct) - len(self.query.weights)
        known = f"{len(self.query.known)} of {len(self.query.weights)} terms known"
        self.method = f"bm25: {known}" + (f", {dropped} left out" if dropped else "")
