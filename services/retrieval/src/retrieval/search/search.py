"""Searches one workspace: runs the legs in one snapshot, fuses what they find, and makes hits of the best."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import psycopg

from contracts.retrieval import Facet, FacetCount, SearchRequest, SearchResponse
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatcher
from retrieval.errors import SearchUnavailable
from retrieval.graph.leg import GraphLeg
from retrieval.graph.quoting import quote
from retrieval.highlights.highlighter import Highlighter
from retrieval.named.leg import NamedLeg
from retrieval.ranking.answerability import GOOD
from retrieval.ranking.rule import RankingRule
from retrieval.reading.leg import Leg, LegQuery
from retrieval.reading.snapshot import Snapshot
from retrieval.search import facets, hits
from retrieval.search.cache import SearchCache
from retrieval.search.candidates import Candidates, Wording, collect
from retrieval.search.filters import resolve
from retrieval.search.legs import Legs
from retrieval.search.reranking import Reranking
from retrieval.search.selection import HitSelection
from retrieval.search.stopwatch import Stopwatch
from retrieval.text.query import parse
from retrieval.tuning.known import KnownTunings
from service_kit.auth import Principal

DEPTH = 100  # candidates per leg
WORDINGS_AT_ONCE = 2


@dataclass(frozen=True)
class FoundCandidates:
    """The fused candidates of the legs, and the selection that makes hits of them."""

    wordings: list[Wording]
    graph: GraphLeg | None
    named: NamedLeg | None
    candidates: Candidates
    selection: HitSelection
    facets: dict[Facet, list[FacetCount]]

    @property
    def legs(self) -> list[Leg]:
        further = [self.graph, self.graph.residual if self.graph else None, self.named]
        return [leg for wording in self.wordings for leg in wording.legs] + [leg for leg in further if leg]

    def shows_overview(self, order: Sequence[int]) -> bool:
        """Returns whether the query asks for an overview of a document, and hits begin it."""
        named = self.named
        return named is not None and named.overview and any(named.feature(chunk) for chunk in order)


class Search:
    """Searches workspaces."""

    def __init__(
        self,
        legs: Legs,
        analyzer: Analyzer,
        reranking: Reranking | None = None,
        matcher: SoftMatcher | None = None,
        cache: SearchCache | None = None,
    ) -> None:
        self.legs, self.analyzer, self.reranking, self.cache = legs, analyzer, reranking, cache
        self.matcher, self.tunings = matcher or SoftMatcher(), KnownTunings()
        self.highlighter = Highlighter(analyzer, self.matcher)

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
        watch = Stopwatch()
        limits = self.legs.limits
        seconds = limits.lexical_seconds + limits.dense_seconds
        try:
            async with self.legs.store.snapshot(workspace_id, seconds) as snapshot:
                place = None
                if self.cache is not None:
                    with_graph = caller is not None
                    place = self.cache.place(workspace_id, snapshot.state, request, attached, with_graph=with_graph)
                if self.cache and place and (kept := await self.cache.get(place, partial(self._is_current, caller))):
                    return kept.model_copy(update={"milliseconds": watch.milliseconds})
                watch.lap("opening")
                found = await self._found(snapshot, request, caller, attached, watch)
        except psycopg.Error as error:
            raise SearchUnavailable("the index did not answer in time") from error
        response = await self._response(workspace_id, request, found, watch)
        if self.cache and place:
            await self.cache.put(place, response, found.graph.generation if found.graph else "")
        return response

    async def _is_current(self, caller: Principal | None, generation: str) -> bool:
        """Returns whether the graph still has this generation; False if it does not respond."""
        return caller is not None and await self.legs.graph_generation(caller) == generation

    async def _response(
        self, workspace_id: UUID, request: SearchRequest, found: FoundCandidates, watch: Stopwatch
    ) -> SearchResponse:
        main, candidates, selected = found.wordings[0], found.candidates, await found.selection.selected()
        rerank, spans = selected.rerank, {}
        if rerank:
            self.legs.metrics.observe("rerank", rerank)
        watch.lap("selection")
        if request.highlight:
            weights = self._weights(request, main)
            shown = [selected.chunks[chunk] for chunk in selected.order]
            spans = await self.highlighter(shown, main.text, weights, main.weight)
            watch.lap("highlights")
        match = 1.0 if found.shows_overview(selected.order) else candidates.match(selected.order)
        return SearchResponse(
            query=request.query,
            mode=candidates.rule.mode,
            hits=[
                hits.hit(
                    workspace_id,
                    selected,
                    chunk,
                    spans.get(chunk, []),
                    found.graph.evidence.get(chunk) if found.graph else None,
                    hits.explanation(chunk, candidates, found.legs, found.graph) if request.explain else None,
                )
                for chunk in selected.order
            ],
            good_match=match >= GOOD,
            match=round(match, 4),
            legs=[hits.report(leg) for leg in [*found.legs, *([rerank] if rerank else [])]],
            facets=found.facets,
            reranked_by=rerank.method if rerank and rerank.found else None,
            understood=main.lexical.report() if request.explain and main.lexical else None,
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
        tuning = await self.tunings.of(snapshot)
        rule, asked, limits = tuning.asked(request.mode), [], self.legs.limits
        for text in [request.query, *request.queries]:
            query = parse(text, strict=request.strict)
            scope = await resolve(reader, self.analyzer, request, query.fields, attached, limits.lexical_seconds)
            asked.append(LegQuery(snapshot, query, scope, tuning.space, DEPTH, tuning.parameters))
        counts = await facets.count(reader, request.facets, asked[0].scope)
        watch.lap("filters")
        wordings, graph = await asyncio.gather(
            self._wordings(rule, asked),
            self.legs.graph(asked[0], caller if request.use_graph and rule.asks_graph else None, request.graph_method),
        )
        main = wordings[0]
        named = await self.legs.named(asked[0], main.lexical, main.dense) if rule.asks_names else None
        watch.lap("legs")
        candidates = await collect(reader, rule, wordings, graph, named, self.matcher)
        watch.lap("fusion")
        if await self.legs.cross(graph, asked[0], candidates.scores):
            candidates = await collect(reader, rule, wordings, graph, named, self.matcher, candidates)
            watch.lap("bridges")
        selection = HitSelection(reader, request, tuning.space, tuning.diversity, self.reranking)
        order = candidates.best(len(candidates.scores))
        await selection.prepare(order, candidates.scores)
        if request.explain and graph:
            await quote(reader, graph, order[: request.k])
        return FoundCandidates(wordings, graph, named, candidates, selection, counts)

    async def _wordings(self, rule: RankingRule, asked: Sequence[LegQuery]) -> list[Wording]:
        """Runs the legs of the wordings, a few at a time, because they share the threads with all other searches."""
        turn = asyncio.Semaphore(WORDINGS_AT_ONCE)

        async def ask(number: int, own: LegQuery) -> Wording:
            parsed = own.query
            async with turn:
                wording = Wording(
                    parsed.text,
                    *await asyncio.gather(
                        self.legs.lexical(own) if rule.asks_words or parsed.conditions else _nothing(),
                        self.legs.dense(own) if rule.asks_vectors else _nothing(),
                    ),
                )
            if parsed.conditions and wording.lexical and wording.lexical.error:
                raise SearchUnavailable("the query's conditions could not be checked in time")
            for leg in wording.legs if number > 1 else []:
                leg.name = f"{leg.name}#{number}"
            return wording

        wordings = await asyncio.gather(*(ask(number, own) for number, own in enumerate(asked, 1)))
        legs = [leg for wording in wordings for leg in wording.legs]
        if all(leg.error for leg in legs):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in legs})
        return wordings

    def _weights(self, request: SearchRequest, main: Wording) -> Mapping[str, float]:
        """Returns the weights of the query's terms; all are equal if the lexical leg did not weigh them."""
        if main.lexical and main.lexical.query:
            return main.lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)


async def _nothing() -> None:
    """Stands in for a leg that the mode does not use."""
