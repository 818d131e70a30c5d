"""Says where a document is in a search, or what keeps it out, by searching again under other conditions."""

from __future__ import annotations

from typing import Any

from contracts.retrieval import (
    Around,
    Hit,
    SearchFilters,
    SearchResponse,
    SearchScope,
    WhyReason,
    WhyRequest,
    WhyResponse,
)
from retrieval.search.scoped_search import ScopedSearch
from retrieval.search.statements import SearchSql
from service_kit.auth import Principal

DEEPEST = 100
FILTERS = tuple(name for name in SearchFilters.model_fields if name not in {"scope", "session_id"})
UNFILTERED: dict[str, Any] = {name: SearchFilters.model_fields[name].get_default() for name in FILTERS}


async def why(search: ScopedSearch, caller: Principal, asked: WhyRequest) -> WhyResponse:
    """Returns the reason. Raises what `ScopedSearch` raises."""
    plain = {"explain": True, "highlight": False, "facets": [], "around": Around.nothing}
    deep = asked.model_copy(update={**plain, "k": DEEPEST})
    found = await search(caller, deep)
    hits, document_id = found.hits, asked.document_id
    last = hits[min(asked.k, len(hits)) - 1].score if hits else None

    def because(reason: WhyReason, hit: Hit | None = None, **more: Any) -> WhyResponse:
        return WhyResponse(document_id=document_id, reason=reason, hit=hit, last_score=last, legs=found.legs, **more)

    for rank, hit in enumerate(hits, 1):
        if hit.document_id == document_id:
            return because(WhyReason.found if rank <= asked.k else WhyReason.below, hit, rank=rank)
    for hit in hits:
        if any(one.document_id == document_id for one in hit.duplicates):
            return because(WhyReason.duplicate, hit)

    async def alone(**conditions: Any) -> SearchResponse:
        """Searches the document alone, under these conditions and no others."""
        update = {**plain, **UNFILTERED, "document_ids": [document_id], "k": 1, **conditions}
        return await search(caller, asked.model_copy(update=update))

    own = await alone()
    if not own.hits:
        if asked.scope is SearchScope.session and (await alone(scope=SearchScope.workspace)).hits:
            return because(WhyReason.filtered, filters=["session_id"])
        return because(WhyReason.unmatched if await _is_indexed(search, caller, asked) else WhyReason.not_indexed)
    excluding = [name for name in FILTERS if await _excludes(name, asked, alone)]
    if excluding:
        return because(WhyReason.filtered, own.hits[0], filters=excluding)
    return because(WhyReason.below, own.hits[0])


async def _excludes(name: str, asked: WhyRequest, alone: Any) -> bool:
    """Returns whether this filter of the search excludes the document by itself."""
    value = getattr(asked, name)
    if value == UNFILTERED[name]:
        return False
    if name == "document_ids":
        return asked.document_id not in value
    return not (await alone(**{name: value})).hits


async def _is_indexed(search: ScopedSearch, caller: Principal, asked: WhyRequest) -> bool:
    store, seconds = search.search.legs.store, search.search.legs.limits.lexical_seconds
    async with store.snapshot(caller.workspace_id, seconds) as snapshot:
        return bool(await snapshot.reader.value(SearchSql.is_indexed, document_id=asked.document_id))
