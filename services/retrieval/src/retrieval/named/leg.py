"""The leg of named documents: the chunks of documents that the query calls by a designator (PEP 589, `inc-112`).

Other documents that mention the designator often have more words of the query than the document itself, which may
have it in its name alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import LiteralString, NamedTuple

import numpy as np

from contracts.retrieval import SearchMode
from relevance.designators import Designator, asks_for_overview, designators
from retrieval.dense.leg import DenseLeg
from retrieval.dense.nearest import Nearest
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.arrays import array_text
from retrieval.reading.leg import Leg, LegQuery, SearchLimits
from retrieval.reading.reader import IndexReader, ScoredChunk
from retrieval.reading.scope import Scope
from service_kit.statements import Statements

MOST_DOCUMENTS = 5  # by one designator; one that more documents have names none of them
MOST_READ = 5_000  # documents with the words of a designator; the names of more are not read
MOST_CHUNKS = 50
WORDS_OF_DESIGNATOR = 2
MOST_FIRST = 8  # chunks of each document, for an overview
_BEFORE_SEPARATOR = re.compile(r"[:–—|]|\s-\s")


class NamedDocumentSql(Statements, file="documents.sql"):
    """Documents by the terms of their names."""

    document_names: LiteralString
    first_chunks: LiteralString


class DesignatedDocument(NamedTuple):
    number: int
    chunks: int
    name: str
    title: str | None

    @property
    def designators(self) -> frozenset[Designator]:
        """The designators in the name, and one that the title consists of or begins with before a colon or dash."""
        title = _BEFORE_SEPARATOR.split(self.title or "", maxsplit=1)[0].strip()
        return designators(self.name) | (designators(title) if len(title.split()) <= WORDS_OF_DESIGNATOR else set())


class NamedLeg(Leg):
    """Ranks the chunks of `documents` (numbers), which the query names, by their cosine with the query.

    If the query only asks for an overview, which no chunk resembles, these are their first chunks in order. The feature
    is 1 for a chunk of such a document; for an overview it falls from 1 to 0.5 over the first chunks.
    """

    kind, needs = "named", (LexicalLeg, DenseLeg)
    # Outside the grid search: a named document should outweigh whatever else mentions its name.
    columns = (Feature("named", 0.8),)
    documents: Collection[int] = frozenset()
    overview: bool = False

    def __init__(self, limits: SearchLimits) -> None:
        super().__init__(limits.lexical_seconds)

    def applies(self, leg_query: LegQuery) -> bool:
        return leg_query.rule.mode is SearchMode.hybrid and bool(designators(leg_query.query.text))

    async def find(self) -> None:
        """Finds the documents, and the best of their chunks if there is a vector of the query."""
        leg_query = self.leg_query
        async with leg_query.snapshot.own() as reader:
            found = await self._named(reader, leg_query, designators(leg_query.query.text))
            names = ", ".join(sorted(one.name for one in found)) or "no document has such a name"
            self.documents, self.method = frozenset(one.number for one in found), names
            self.overview = asks_for_overview(leg_query.query.text)
            dense = leg_query.leg(DenseLeg)
            if self.overview:
                documents = array_text(sorted(self.documents))
                rows = await reader.rows(NamedDocumentSql.first_chunks, documents=documents, limit=MOST_FIRST)
                self.found = [ScoredChunk(row[0], 1.0 - place / len(rows) / 2) for place, row in enumerate(rows)]
            elif found and dense and dense.vector is not None:
                scope = Scope(np.array(sorted(self.documents), np.int64), sum(one.chunks for one in found))
                nearest = Nearest(reader, dense.vector, dense.vector_space, scope, MOST_CHUNKS)
                self.found = await nearest.exact(leg_query.snapshot.state.chunks)

    async def features(self, chunks: Sequence[int]) -> Columns:
        if self.overview:
            first = dict(self.found)
            return {"named": np.array([first.get(chunk, 0.0) for chunk in chunks])}
        return {"named": np.array([float(chunk >> ORDINAL_BITS in self.documents) for chunk in chunks])}

    def answers(self, chunks: Sequence[int]) -> bool:
        """Returns whether the query asks for an overview, and hits begin it."""
        return self.overview and not {one.chunk for one in self.found}.isdisjoint(chunks)

    async def _named(
        self, reader: IndexReader, leg_query: LegQuery, wanted: Collection[Designator]
    ) -> list[DesignatedDocument]:
        """Returns the documents in the scope of the search that the designators name."""
        lexical = leg_query.leg(LexicalLeg)
        assert lexical is not None, "it is needed"
        chunks = [await lexical.chunks_with(" ".join(one)) for one in sorted(wanted)]
        numbers = np.unique(np.concatenate(chunks) >> ORDINAL_BITS)
        if leg_query.scope is not None:
            numbers = numbers[leg_query.scope.has(numbers.tolist())]
        if len(numbers) > MOST_READ:
            return []
        rows = await reader.rows(NamedDocumentSql.document_names, documents=array_text(numbers.tolist()))
        by_designator = defaultdict[Designator, list[DesignatedDocument]](list)
        for document in map(DesignatedDocument._make, rows):
            for one in document.designators.intersection(wanted):
                by_designator[one].append(document)
        few = [documents for documents in by_designator.values() if len(documents) <= MOST_DOCUMENTS]
        return list({document.number: document for documents in few for document in documents}.values())
