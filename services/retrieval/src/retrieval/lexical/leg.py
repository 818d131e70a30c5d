"""The lexical leg: what BM25 finds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from contracts.retrieval import QueryReport
from relevance.analysis import Analyzer
from relevance.bm25 import WeightedQuery
from retrieval.lexical.columns import Int64s
from retrieval.lexical.conditions import TextConditions
from retrieval.lexical.search import MOST_CHECKED, Cache, LexicalSearch, WordFeatures
from retrieval.reading.leg import Leg, LegQuery
from retrieval.reading.reader import IndexReader
from retrieval.text.query import ParsedQuery


class LexicalLeg(Leg):
    """Ranks by BM25. `query` is set once the words are weighed."""

    parsed: ParsedQuery | None = None
    query: WeightedQuery | None = None
    _search: LexicalSearch | None = None

    async def run(self, reader: IndexReader, asked: LegQuery, analyzer: Analyzer, cache: Cache) -> None:
        self.parsed = parsed = asked.query
        wanted = TextConditions(parsed.phrases, parsed.fields.get("section", ()), parsed.excluded, parsed.strict)
        search = LexicalSearch(reader, cache, analyzer, parsed, wanted)
        documents = None if asked.scope is None else asked.scope.documents
        await search.open(asked.snapshot.state, documents, asked.parameters)
        self.found = await search.best(asked.depth)
        self.query, self._search = search.query, search
        self.method = _method(search)

    async def features(self, chunks: Iterable[int]) -> dict[int, WordFeatures]:
        """Returns the features of any chunks, whichever leg found them; none if this leg failed.

        Call it after all legs: it reads on the search's own connection, and leaves it unusable on failure.
        """
        return await self._search.features(chunks) if self._search else {}

    async def chunks_with(self, text: str) -> Int64s:
        """Returns all chunks that have every word of the text; none if this leg failed. See `features` for when."""
        return await self._search.chunks_with(text) if self._search else np.empty(0, np.int64)

    def weight(self, text: str) -> float:
        """Returns the IDF of the query's rarest word in the text; 0 for stop words, 1 if the leg failed."""
        return self._search.weight(text) if self._search else 1.0

    def report(self) -> QueryReport | None:
        """Returns how the query was read; None if the leg failed."""
        parsed, search = self.parsed, self._search
        if parsed is None or search is None:
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
