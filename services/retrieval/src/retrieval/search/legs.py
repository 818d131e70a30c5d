"""Runs the legs of a search: concurrently, in one snapshot, each with its own deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from contracts.graph_expansion import GraphMethod
from relevance.analysis import Analyzer
from relevance.designators import designators
from retrieval.dense.leg import DenseLeg
from retrieval.dense.query_vectors import QueryVectors
from retrieval.graph.leg import GraphLeg, GraphOf
from retrieval.lexical.cache import PostingCache
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.search import Cache
from retrieval.named.leg import NamedLeg
from retrieval.reading.leg import LegQuery, SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.leg_metrics import LegMetrics
from retrieval.text.query import parse
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

GENERATION_SECONDS = 0.25


class Legs:
    """Runs the legs of a search."""

    def __init__(
        self,
        store: SearchStore,
        vectors: QueryVectors,
        analyzer: Analyzer,
        limits: SearchLimits,
        graphs: HttpService | None = None,
        metrics: LegMetrics | None = None,
    ) -> None:
        self.store, self.vectors, self.analyzer, self.limits = store, vectors, analyzer, limits
        self.graphs, self.metrics = graphs, metrics or LegMetrics()
        self.postings: Cache = PostingCache(limits.posting_bytes)

    async def lexical(self, asked: LegQuery) -> LexicalLeg:
        """Runs the lexical leg on the search's own connection, which stays open for features of other legs' chunks."""
        leg = LexicalLeg("lexical")

        async def work() -> None:
            async with asked.snapshot.own() as reader:
                await leg.run(reader, asked, self.analyzer, self.postings)

        await leg.within(self.limits.lexical_seconds, work)
        self.metrics.observe("lexical", leg)
        return leg

    async def dense(self, asked: LegQuery, name: str = "dense") -> DenseLeg:
        """Runs the dense leg; it fails if the model of the active space is no longer configured."""
        leg = DenseLeg(name)
        embedders = self.vectors.embedders
        leg.embedder = embedder = embedders.find(*asked.space) if asked.space else embedders.default
        if embedder is None:
            model, dims = asked.space or ("", 0)
            leg.error = f"the embedding model {model} ({dims} dimensions) is no longer configured"
            self.metrics.observe(name, leg)
            return leg

        async def work() -> None:
            leg.vector = await self.vectors.of_query(asked.query.text, embedder)
            async with asked.snapshot.beside() as reader:
                await leg.run(reader, asked, self.limits)

        await leg.within(self.limits.dense_seconds, work)
        self.metrics.observe(name, leg)
        return leg

    async def graph(self, asked: LegQuery, caller: Principal | None, by: GraphMethod) -> GraphLeg | None:
        """Runs the graph leg; returns None without a knowledge graph, or without a caller to query it for."""
        graphs = self.graphs
        if graphs is None or caller is None:
            return None
        text = asked.query.text
        leg = GraphLeg("graph", graph=GraphOf(graphs, caller), query=text, by=by)

        async def work() -> None:
            await leg.link(asked)
            if leg.residual_query and leg.residual_query != text:
                query = parse(leg.residual_query, strict=asked.query.strict)
                leg.residual = await self.dense(replace(asked, query=query), "residual")

        await leg.within(graphs.seconds, work)
        self.metrics.observe("graph", leg)
        if leg.error:
            leg.discard()
        return leg

    async def named(self, asked: LegQuery, lexical: LexicalLeg | None, dense: DenseLeg | None) -> NamedLeg | None:
        """Runs the leg of named documents after the other two; returns None if the query has no designator."""
        if lexical is None or dense is None or not designators(asked.query.text):
            return None
        leg = NamedLeg("named")

        async def work() -> None:
            async with asked.snapshot.own() as reader:
                await leg.run(reader, asked, lexical, dense)

        await leg.within(self.limits.lexical_seconds, work)
        self.metrics.observe("named", leg)
        return leg

    async def graph_generation(self, caller: Principal) -> str | None:
        """Returns a token of the graph's state; None without a graph, or if it does not respond in time."""
        if self.graphs is None:
            return None
        try:
            async with asyncio.timeout(GENERATION_SECONDS):
                return await GraphOf(self.graphs, caller).generation()
        except (ServiceSilent, TimeoutError):
            return None

    async def cross(self, leg: GraphLeg | None, asked: LegQuery, scores: Mapping[int, float]) -> bool:
        """Follows bridges from the best of the scored candidates, in the time that the leg has left.

        Returns False if there are none to follow; the leg is then unchanged.
        """
        seconds = self.graphs.seconds - leg.milliseconds / 1000 if self.graphs and leg else 0.0
        if leg is None or not (begin := leg.seeds(scores)):
            return False
        before = leg.milliseconds
        await leg.within(max(0.0, seconds), lambda: leg.cross(asked, begin))
        self.metrics.observe("bridges", leg)
        leg.milliseconds += before
        if leg.error:
            leg.discard()
        return True
