"""The graph leg: chunks of the search's snapshot that the knowledge graph reaches from the names of a query.

`hops` takes one request. `bridge` takes two: alongside the other legs, which names of the query are known and which
chunks have them; then, from the best of these chunks, which chunks they lead to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self
from uuid import UUID

import numpy as np

from contracts.graph_expansion import ExpandedChunk, ExpandRequest, ExpandResponse, GraphMethod, LinkedName, SeedChunk
from contracts.knowledge_graph import GraphGeneration
from contracts.retrieval import GraphStep
from retrieval.graph.evidence import GraphEvidence, ranked, seeds
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.leg import Leg, LegQuery, Work
from retrieval.reading.reader import IndexReader, ScoredChunk
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

MOST_CHUNKS = 100
MOST_HOPS = 2
NAMES_SHOWN = 5
GENERATION_SECONDS = 0.25

_NOTHING = GraphEvidence("", UUID(int=0))


class GraphLeg(Leg):
    """The graph leg, with `evidence` by chunk. Once the graph has `answered`, `residual` is the query without its known
    names, if a chunk may be about one of them; `is_about_names`: the leg found chunks that are.

    `link` is how surely a chunk is about a name of the query, `bridge` how well a bridge leads to it, and `graph` how
    near it is by relations: half of its score depends on that.
    """

    kind, weight, second = "graph", 0.5, "bridges"
    columns = (Feature("link", 0.5), Feature("bridge", 0.9), Feature("graph", 0.5, factor=True))
    query: str
    by: GraphMethod
    evidence: dict[int, GraphEvidence]
    residual: str = ""
    is_about_names: bool = False
    answered: asyncio.Event
    names: Sequence[LinkedName] = ()

    def __init__(self, service: HttpService | None) -> None:
        """Without a `service` the leg is part of no search."""
        super().__init__(service.seconds if service else 0.0)
        self.service = service

    def begin(self, leg_query: LegQuery, name: str) -> Self:
        own = super().begin(leg_query, name)
        own.answered = asyncio.Event()
        return own

    def applies(self, leg_query: LegQuery) -> bool:
        may_ask = self.service is not None and leg_query.caller is not None and leg_query.request.use_graph
        return may_ask and super().applies(leg_query)

    async def find(self) -> None:
        """Finds chunks by the query's names; nothing, without an error, if none is known. Raises ServiceSilent."""
        self.evidence = {}
        self.query, self.by = self.leg_query.query.text, self.leg_query.request.graph_method
        try:
            await self._link()
        finally:
            self.answered.set()

    async def features(self, chunks: Sequence[int]) -> Columns:
        says = [self.evidence.get(chunk, _NOTHING) for chunk in chunks]
        return {
            "link": np.array([one.link for one in says]),
            "bridge": np.array([one.bridge for one in says]),
            "graph": np.array([one.near for one in says]),
        }

    def second_round(self, scores: Mapping[int, float]) -> Work | None:
        begin = seeds(scores, self.evidence) if self.by is GraphMethod.bridge else {}
        return (lambda: self._cross(begin)) if begin else None

    def shown(self, chunk: int) -> Mapping[str, Any]:
        found = self.evidence.get(chunk)
        return {"graph_path": found.described_path()} if found and len(found.path) > 1 else {}

    async def explain(self, reader: IndexReader, chunks: Sequence[int]) -> None:
        """Quotes the sentences behind the steps of the best hits' paths, from chunks that the leg found."""
        explained = [self.evidence[chunk] for chunk in chunks[: self.leg_query.request.k] if chunk in self.evidence]
        numbers = {(one.document_id, one.chunk_id): chunk for chunk, one in self.evidence.items()}
        stated = ((step.document_id, step.chunk_id) for one in explained for step in one.steps)
        wanted = {numbers[place] for place in stated if place in numbers}
        texts = await reader.chunks(sorted(wanted)) if wanted else {}
        for one in explained:
            one.quoted = []
            for step in one.steps:
                text = texts.get(numbers.get((step.document_id, step.chunk_id), -1))
                sentence = text.content[step.start : step.end] if text and step.end else None
                one.quoted.append(GraphStep(**step.model_dump(), sentence=sentence))

    def explanation(self, chunk: int) -> Mapping[str, list[Any]]:
        found = self.evidence.get(chunk)
        return {"graph_steps": found.quoted} if found else {}

    async def current_state(self, caller: Principal) -> str | None:
        if self.service is None:
            return None
        try:
            async with asyncio.timeout(GENERATION_SECONDS):
                return (await self.service.fetch(caller, "GET", "/v1/graph/generation", GraphGeneration)).generation
        except (ServiceSilent, TimeoutError):
            return None

    async def _link(self) -> None:
        over_relations = self.by is GraphMethod.hops
        answer = await self._expand(max_hops=MOST_HOPS if over_relations else 0)
        self.state = answer.generation
        if not answer.entities:
            self.method = "no entity of the query is known"
            return
        if not over_relations and any(one.about for one in answer.chunks):
            self.residual = answer.residual
        self.answered.set()
        await self._add(answer.chunks)
        self.names = answer.names
        names = ", ".join(entity.name for entity in answer.entities[:NAMES_SHOWN])
        self.method = f"{answer.store}: " + (f"up to {MOST_HOPS} hops from {names}" if over_relations else names)
        self.is_about_names = any(one.about for one in self.evidence.values())

    async def _cross(self, begin: Mapping[int, float]) -> None:
        """Adds the chunks that bridges from these seeds lead to. Raises ServiceSilent."""
        places = [
            SeedChunk(chunk_id=self.evidence[chunk].chunk_id, document_id=self.evidence[chunk].document_id, score=score)
            for chunk, score in begin.items()
        ]
        answer = await self._expand(max_hops=MOST_HOPS, names=self.names, seeds=places)
        if answer.generation != self.state:
            self.state = None
        await self._add([one for one in answer.chunks if one.hop])
        self.method = f"{self.method}; bridges from {len(places)} chunks"

    async def _expand(self, **more: Any) -> ExpandResponse:
        assert self.service is not None
        assert self.leg_query.caller is not None
        request = ExpandRequest(query=self.query, method=self.by, limit=MOST_CHUNKS, **more)
        return await self.service.fetch(self.leg_query.caller, "POST", "/v1/graph/expand", ExpandResponse, request)

    async def _add(self, chunks: Sequence[ExpandedChunk]) -> None:
        """Adds those of the chunks that are in the snapshot and pass the filters."""
        if not chunks:
            return
        numbers = await self.leg_query.snapshot.numbers([(one.document_id, one.chunk_id) for one in chunks])
        found = [(number, one) for number, one in zip(numbers, chunks, strict=True) if number is not None]
        scope, documents = self.leg_query.scope, [number >> ORDINAL_BITS for number, _ in found]
        admitted = [True] * len(found) if scope is None else scope.has(documents).tolist()
        for (number, one), passes in zip(found, admitted, strict=True):
            if passes:
                known = self.evidence.setdefault(number, GraphEvidence(one.chunk_id, one.document_id))
                known.add(one, over_relations=self.by is GraphMethod.hops)
        self.found = [ScoredChunk(chunk, score) for chunk, score in ranked(self.evidence)]
