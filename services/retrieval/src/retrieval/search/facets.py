"""Facets: counts of the documents that pass the filters, and of their chunks, by value."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.retrieval import Facet, FacetCount
from retrieval.reading.reader import IndexReader
from retrieval.reading.scope import Scope
from retrieval.search.statements import SearchSql

MOST_VALUES = 50


async def count(reader: IndexReader, facets: Sequence[Facet], scope: Scope | None) -> dict[Facet, list[FacetCount]]:
    """Counts the values with the most documents of each facet, among all documents if there is no scope."""
    if not facets:
        return {}
    rows = await reader.rows(
        SearchSql.facets,
        facets=[facet.value for facet in facets],
        limit=MOST_VALUES,
        bitmap=None if scope is None else scope.bitmap,
        first=0 if scope is None else scope.first,
    )
    found: dict[Facet, list[FacetCount]] = {facet: [] for facet in facets}
    for facet, value, chunks, documents in rows:
        found[Facet(facet)].append(FacetCount(value=value, chunks=chunks, documents=documents))
    return found
