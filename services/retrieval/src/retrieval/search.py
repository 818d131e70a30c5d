"""The search: both legs at the same time, fused, the best with their sentences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import psycopg

from contracts.retrieval import SearchMode, SearchRequest, SearchResponse
from retrieval import hits
from retrieval.analysis import Analyzer
from retrieval.candidates import Candidates, collect
from retrieval.errors import SearchUnavailable
from retrieval.highlighting import Highlighter
from retrieval.legs import DenseLeg, Leg, Legs, LexicalLeg
from retrieval.search_store import FoundChunk, Scope

DEPTH = 100  # candidates of each leg


@dataclass(frozen=True)
class Asked:
    """The legs that a mode asks for; None for the one that it does not."""

    lexical: LexicalLeg | None
    dense: DenseLeg | None

    @property
    def legs(self) -> list[Leg]:
        return [leg for leg in (self.lexical, self.dense) if leg is not None]


class Search:
    """Searches the workspace that it is told."""

    def __init__(self, legs: Legs, analyzer: Analyzer) -> None:
        self.legs, self.analyzer = legs, analyzer
        self.highlighter = Highlighter(legs.vectors, analyzer, legs.limits.highlight_seconds)

    async def __call__(self, workspace_id: UUID, request: SearchRequest) -> SearchResponse:
        """Raises SearchUnavailable when no leg that the mode asks for could answer."""
        start = time.perf_counter()
        try:
            scope = await self._scope(workspace_id, request)
            asked = await self._ask(workspace_id, request, scope)
            candidates, chunks = await self._fuse(workspace_id, request, asked)
        except psycopg.Error as error:
            raise SearchUnavailable("the index did not answer in time") from error
        order = [chunk for chunk in candidates.best(request.k) if chunk in chunks]
        spans = {}
        if request.highlight:
            weights = self._weights(request, asked)
            spans = await self.highlighter([chunks[chunk] for chunk in order], weights, asked.dense)
        return SearchResponse(
            query=request.query,
            mode=request.mode,
            hits=[
                hits.hit(
                    chunks[chunk],
                    candidates.scores[chunk],
                    spans.get(chunk, []),
                    hits.explanation(chunk, candidates, asked.lexical, asked.dense) if request.explain else None,
                )
                for chunk in order
            ],
            good_match=candidates.has_good_match(order),
            legs=[hits.report(leg) for leg in asked.legs],
            milliseconds=round(1000 * (time.perf_counter() - start), 2),
        )

    async def _scope(self, workspace_id: UUID, request: SearchRequest) -> Scope | None:
        if request.document_ids is None and request.media_types is None:
            return None
        async with self.legs.store.reading(workspace_id, self.legs.limits.lexical_seconds) as reader:
            return await reader.scope(request.document_ids, request.media_types)

    async def _ask(self, workspace_id: UUID, request: SearchRequest, scope: Scope | None) -> Asked:
        lexical = self.legs.lexical(workspace_id, request.query, scope, DEPTH)
        dense = self.legs.dense(workspace_id, request.query, scope, DEPTH)
        if request.mode is SearchMode.lexical:
            dense.close()
            asked = Asked(await lexical, None)
        elif request.mode is SearchMode.dense:
            lexical.close()
            asked = Asked(None, await dense)
        else:
            asked = Asked(*await asyncio.gather(lexical, dense))
        if all(leg.error for leg in asked.legs):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in asked.legs})
        return asked

    async def _fuse(
        self, workspace_id: UUID, request: SearchRequest, asked: Asked
    ) -> tuple[Candidates, dict[int, FoundChunk]]:
        async with self.legs.store.reading(workspace_id, self.legs.limits.lexical_seconds) as reader:
            space = self.legs.vectors.space
            candidates = await collect(reader, request.mode, asked.lexical, asked.dense, space)
            return candidates, await reader.chunks(candidates.best(request.k))

    def _weights(self, request: SearchRequest, asked: Asked) -> Mapping[str, float]:
        """Of the query's terms; all alike where the lexical leg did not weigh them."""
        if asked.lexical and asked.lexical.query:
            return asked.lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)
