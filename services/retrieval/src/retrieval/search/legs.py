"""The legs of a search, and how they run: concurrently, in one snapshot, each with its own deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from relevance.analysis import Analyzer
from retrieval.dense.leg import DenseLeg
from retrieval.dense.query_vectors import QueryVectors
from retrieval.errors import SearchUnavailable
from retrieval.graph.leg import GraphLeg
from retrieval.graph.residual import ResidualLeg
from retrieval.lexical.leg import LexicalLeg
from retrieval.named.leg import NamedLeg
from retrieval.ranking.features import Registry
from retrieval.reading.leg import Leg, LegQuery, SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.leg_metrics import LegMetrics
from retrieval.search.texts import TEXT_FEATURES
from service_kit.auth import Principal
from service_kit.http_service import HttpService

WORDINGS_AT_ONCE = 2


class Legs:
    """Runs the legs of searches: those listed here, and `further` ones."""

    def __init__(
        self,
        store: SearchStore,
        vectors: QueryVectors,
        analyzer: Analyzer,
        limits: SearchLimits,
        graphs: HttpService | None = None,
        metrics: LegMetrics | None = None,
        further: Sequence[Leg] = (),
    ) -> None:
        self.store, self.limits = store, limits
        self.registered: Sequence[Leg] = (
            LexicalLeg(analyzer, limits),
            DenseLeg(vectors, limits),
            GraphLeg(graphs),
            ResidualLeg(vectors, limits),
            NamedLeg(limits),
            *further,
        )
        self.registry = Registry(
            [*(feature for leg in self.registered for feature in leg.columns), *TEXT_FEATURES],
            {leg.kind: leg.weight for leg in self.registered if leg.weight is not None},
        )
        self.metrics = metrics or LegMetrics()
        kinds = [leg.kind for leg in self.registered]
        self.metrics.known([*kinds, "rerank"], [leg.second for leg in self.registered if leg.second])

    def begin(self, leg_query: LegQuery, number: int) -> None:
        """Gives the wording its legs. Those of further wordings (from 2) are called `lexical#2` …"""
        for leg in self.registered:
            wanted = leg.every_wording or number == 1
            if wanted and all(need in leg_query.legs for need in leg.needs) and leg.applies(leg_query):
                leg_query.legs[type(leg)] = leg.begin(leg_query, leg.kind if number == 1 else f"{leg.kind}#{number}")

    async def find(self, wordings: Sequence[LegQuery]) -> None:
        """Runs the legs of all wordings, of a few at a time, because they share the threads with all other searches.

        Raises SearchUnavailable if a required leg, or every leg that searches for the wordings, failed.
        """
        turns = asyncio.Semaphore(WORDINGS_AT_ONCE)

        async def own(leg_query: LegQuery) -> None:
            async with turns:
                await asyncio.gather(*(self._run(leg) for leg in leg_query.legs.values() if leg.every_wording))

        alone = [self._run(leg) for leg in wordings[0].legs.values() if not leg.every_wording]
        await asyncio.gather(*map(own, wordings), *alone)
        legs = [leg for leg_query in wordings for leg in leg_query.legs.values() if leg.every_wording]
        if any(leg.error and leg.required() for leg in legs):
            raise SearchUnavailable("the query's conditions could not be checked in time")
        if all(leg.error for leg in legs):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in legs})

    async def second_round(self, leg_query: LegQuery, scores: Mapping[int, float]) -> list[Leg]:
        """Lets the legs go on from the scored candidates, in the time that each has left; returns those that did."""
        legs = [leg for leg in leg_query.legs.values() if leg.second and not leg.error]
        going = [(leg, work) for leg in legs if (work := leg.second_round(scores))]
        for leg, work in going:
            before = leg.milliseconds
            await leg.within(max(0.0, leg.seconds - before / 1000), work)
            self.metrics.observe(leg.second or leg.kind, leg, leg.milliseconds - before)
        return [leg for leg, _ in going]

    async def is_current(self, caller: Principal | None, state: str) -> bool:
        """Returns whether the sources outside the index still have this state; False if one does not respond."""
        if caller is None:
            return False
        states = [await leg.current_state(caller) for leg in self.registered]
        return None not in states and "".join(one or "" for one in states) == state

    async def _run(self, leg: Leg) -> None:
        await leg.ready()
        try:
            await leg.within(leg.seconds, leg.find)
        finally:
            leg.done.set()
        if not leg.skipped:
            self.metrics.observe(leg.kind, leg, leg.milliseconds)
