"""Searches one workspace: runs the legs in one snapshot, fuses what they find, and makes hits of the best."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import psycopg

from contracts.retrieval import Facet, FacetCount, SearchRequest, SearchResponse
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatcher
from retrieval.errors import SearchUnavailable
from retrieval.highlights.scoring import highlights
from retrieval.lexical.leg import LexicalLeg
from retrieval.ranking.answerability import GOOD
from retrieval.reading.leg import LegQuery
from retrieval.reading.snapshot import Snapshot
from retrieval.reading.state import Version
from retrieval.search import facets, hits
from retrieval.search.cache import SearchCache
from retrieval.search.candidates import Candidates
from retrieval.search.filters import resolve
from retrieval.search.legs import Legs
from retrieval.search.reranking import Reranking
from retrieval.search.selection import HitSelection
from retrieval.search.stopwatch import Stopwatch
from retrieval.search.texts import CandidateTexts, weighing
from retrieval.text.query import parse
from retrieval.tuning.store import SettingsRows
from retrieval.tuning.tuning import Tuning
from service_kit.auth import Principal
from service_kit.recent_values import RecentValues

DEPTH = 100  # candidates per leg


@dataclass(frozen=True)
class FoundCandidates:
    """The ranked candidates of the legs, their `order`, and the selection that makes hits of them."""

    candidates: Candidates
    order: list[int]
    selection: HitSelection
    facets: dict[Facet, list[FacetCount]]


class Search:
    """Searches workspaces."""

    def __init__(
        self, legs: Legs, analyzer: Analyzer, reranking: Reranking | None = None, cache: SearchCache | None = None
    ) -> None:
        self.legs, self.analyzer, self.reranking, self.cache = legs, analyzer, reranking, cache
        self.matcher, self.tunings = SoftMatcher(), RecentValues[tuple[Version, Tuning]]()

    async def __call__(
        self,
        workspace_id: UUID,
        request: SearchRequest,
        *,
        caller: Principal | None = None,
        attached: Collection[UUID] | None = None,
    ) -> SearchResponse:
        """Searches one workspace, whatever the request's scope; `attached` limits it to these documents.

        The knowledge graph is queried on behalf of `caller`, and not at all without one. Raises SearchUnavailable if
        none of the mode's legs could answer, InvalidMetadataPath and FilterTooSlow.
        """
        watch, cache, limits = Stopwatch(), self.cache, self.legs.limits
        seconds = limits.lexical_seconds + limits.dense_seconds
        try:
            async with self.legs.store.snapshot(workspace_id, seconds) as snapshot:
                asked = (workspace_id, snapshot.state, request, attached)
                place = cache.place(*asked, with_graph=caller is not None) if cache else None
                if cache and place and (kept := await cache.get(place, partial(self.legs.is_current, caller))):
                    return kept.model_copy(update={"milliseconds": watch.milliseconds})
                watch.lap("opening")
                found = await self._found(snapshot, request, caller, attached, watch)
        except psycopg.Error as error:
            raise SearchUnavailable("the index did not answer in time") from error
        response = await self._response(workspace_id, request, found, watch)
        if cache and place:
            states = [leg.state for leg in found.candidates.legs]
            cache.put_soon(place, response, None if None in states else "".join(one or "" for one in states))
        return response

    async def _response(
        self, workspace_id: UUID, request: SearchRequest, found: FoundCandidates, watch: Stopwatch
    ) -> SearchResponse:
        candidates, selected = found.candidates, await found.selection.selected()
        main = candidates.wordings[0]
        lexical = main.leg(LexicalLeg)
        rerank, spans = selected.rerank, {}
        if rerank:
            self.legs.metrics.observe("rerank", rerank, rerank.milliseconds)
        watch.lap("selection")
        if request.highlight:
            weights, weigh = weighing(main)
            weights = weights or dict.fromkeys(self.analyzer.terms(request.query), 1.0)
            shown, text = [selected.chunks[chunk] for chunk in selected.order], main.query.text
            spans = await asyncio.to_thread(highlights, shown, text, weights, weigh, self.analyzer, self.matcher)
            watch.lap("highlights")
        match = candidates.match(selected.order)
        legs = candidates.reported
        failed = [leg.kind for leg in legs if leg.error] + (["rerank"] if rerank and rerank.error else [])
        self.legs.metrics.answered(failed)
        return SearchResponse(
            query=request.query,
            mode=candidates.rule.mode,
            hits=[
                hits.hit(
                    workspace_id,
                    selected,
                    chunk,
                    spans.get(chunk, []),
                    hits.shown(chunk, candidates),
                    hits.explanation(chunk, candidates, found.order) if request.explain else None,
                )
                for chunk in selected.order
            ],
            good_match=match >= GOOD,
            match=round(match, 4),
            legs=[hits.report(leg) for leg in [*legs, *([rerank] if rerank else [])]],
            facets=found.facets,
            reranked_by=rerank.method if rerank and rerank.found else None,
            understood=lexical.report() if request.explain and lexical else None,
            timings=watch.laps if request.explain else None,
            milliseconds=watch.milliseconds,
        )

    async def _found(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        caller: Principal | None,
        attached: Collection[UUID] | None,
        watch: Stopwatch,
    ) -> FoundCandidates:
        reader = snapshot.reader
        tuning = await self._tuning(snapshot)
        rule, wordings, seconds = tuning.rule_for(request.mode), list[LegQuery](), self.legs.limits.lexical_seconds
        for number, text in enumerate([request.query, *request.queries], 1):
            query = parse(text, strict=request.strict)
            scope = await resolve(snapshot, self.analyzer, request, query.fields, attached, seconds)
            wording = LegQuery(snapshot, request, query, scope, rule, tuning.space, DEPTH, tuning.parameters, caller)
            self.legs.begin(wording, number)
            wordings.append(wording)
        counts = await facets.count(reader, request.facets, wordings[0].scope)
        watch.lap("filters")
        await self.legs.find(wordings)
        watch.lap("legs")
        candidates = Candidates(rule, wordings, CandidateTexts(self.matcher))
        await candidates.rank()
        watch.lap("fusion")
        if changed := await self.legs.second_round(wordings[0], candidates.by_chunk()):
            await candidates.rank(changed)
            watch.lap("second round")
        selection = HitSelection(reader, request, snapshot.candidates, tuning.diversity, self.reranking)
        order, scores = candidates.order(), candidates.by_chunk()
        await selection.prepare(order, scores)
        if request.explain:
            for leg in candidates.heard:
                await leg.explain(reader, order)
        return FoundCandidates(candidates, order, selection, counts)

    async def _tuning(self, snapshot: Snapshot) -> Tuning:
        """Returns the workspace's settings in the snapshot; every change of them is another version of the index."""
        version, known = snapshot.state.version, self.tunings.get(snapshot.workspace_id)
        if known is None or known[0] != version:
            stored = await SettingsRows(snapshot.reader.connection, snapshot.workspace_id).find()
            known = version, Tuning.of(stored, self.legs.registry)
            self.tunings.put(snapshot.workspace_id, known)
        return known[1]
