"""The graph leg: chunks of the search's snapshot that the knowledge graph reaches from the names of a query.

`hops` takes one request. `bridge` takes two: alongside the other legs, which names of the query are known and which
chunks have them; then, from the best of these chunks, which chunks they lead to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import ValidationError

from contracts.graph_expansion import ExpandedChunk, ExpandRequest, ExpandResponse, GraphMethod, LinkedName, SeedChunk
from contracts.knowledge_graph import GraphGeneration
from retrieval.graph.evidence import GraphEvidence, ranked, seeds
from retrieval.graph.quoting import quote
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.leg import Leg, LegQuery, Work
from retrieval.reading.reader import IndexReader, ReadingSql, ScoredChunk
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

MOST_CHUNKS = 100
MOST_HOPS = 2
NAMES_SHOWN = 5
GENERATION_SECONDS = 0.25

_NOTHING = GraphEvidence("", UUID(int=0))


@dataclass(frozen=True)
class GraphOf:
    """Queries the graph of a workspace on the caller's behalf."""

    service: HttpService
    caller: Principal

    async def expand(self, request: ExpandRequest) -> ExpandResponse:
        """Returns the chunks that the graph reaches. Raises ServiceSilent."""
        body = request.model_dump(mode="json")
        answer = await self.service.ask(self.caller, "POST", "/v1/graph/expand", json=body)
        if answer.status_code != 200:
            raise ServiceSilent(f"{self.service.name} answered with status {answer.status_code}")
        try:
            return ExpandResponse.model_validate_json(answer.content)
        except ValidationError as error:
            raise ServiceSilent(f"{self.service.name} gave an unreadable answer") from error

    async def generation(self) -> str:
        """Returns a token that changes with the graph. Raises ServiceSilent."""
        answer = await self.service.ask(self.caller, "GET", "/v1/graph/generation")
        if answer.status_code != 200:
            raise ServiceSilent(f"{self.service.name} answered with status {answer.status_code}")
        try:
            return GraphGeneration.model_validate_json(answer.content).generation
        except ValidationError as error:
            raise ServiceSilent(f"{self.service.name} gave an unreadable answer") from error


class GraphLeg(Leg):
    """The graph leg, with `evidence` by chunk. `residual_query` is the query without its known names, if it has any.

    `link` is how surely a chunk is about a name of the query, `bridge` how well a bridge leads to it, and `graph` how
    near it is by relations: half of its score depends on that.
    """

    kind, weight, second = "graph", 0.5, "bridges"
    columns = (Feature("link", 0.5), Feature("bridge", 0.9), Feature("graph", 0.5, factor=True))
    graph: GraphOf | None = None
    query: str
    by: GraphMethod
    evidence: dict[int, GraphEvidence]
    residual_query: str = ""
    names: Sequence[LinkedName] = ()

    def __init__(self, service: HttpService | None) -> None:
        """Without a `service` the leg is part of no search."""
        super().__init__(service.seconds if service else 0.0)
        self.service = service

    def applies(self, leg_query: LegQuery) -> bool:
        may_ask = self.service is not None and leg_query.caller is not None and leg_query.request.use_graph
        return may_ask and super().applies(leg_query)

    async def find(self) -> None:
        assert self.service is not None
        assert self.leg_query.caller is not None
        self.graph, self.evidence = GraphOf(self.service, self.leg_query.caller), {}
        self.query, self.by = self.leg_query.query.text, self.leg_query.request.graph_method
        await self.link(self.leg_query)

    async def features(self, chunks: Sequence[int]) -> Columns:
        says = [self.evidence.get(chunk, _NOTHING) for chunk in chunks]
        return {
            "link": np.array([one.link for one in says]),
            "bridge": np.array([one.bridge for one in says]),
            "graph": np.array([one.near for one in says]),
        }

    def second_round(self, scores: Mapping[int, float]) -> Work | None:
        begin = self.seeds(scores)
        return (lambda: self.cross(self.leg_query, begin)) if begin else None

    def shown(self, chunk: int) -> Mapping[str, Any]:
        found = self.evidence.get(chunk)
        return {"graph_path": found.described_path()} if found and len(found.path) > 1 else {}

    async def explain(self, reader: IndexReader, chunks: Sequence[int]) -> None:
        await quote(reader, self.evidence, chunks)

    def explanation(self, chunk: int) -> Mapping[str, list[Any]]:
        found = self.evidence.get(chunk)
        return {"graph_steps": found.quoted} if found else {}

    async def current_state(self, caller: Principal) -> str | None:
        if self.service is None:
            return None
        try:
            async with asyncio.timeout(GENERATION_SECONDS):
                return await GraphOf(self.service, caller).generation()
        except (ServiceSilent, TimeoutError):
            return None

    async def link(self, leg_query: LegQuery) -> None:
        """Finds chunks by the query's names; nothing, without an error, if none is known. Raises ServiceSilent."""
        assert self.graph is not None
        over_relations = self.by is GraphMethod.hops
        hops = MOST_HOPS if over_relations else 0
        request = ExpandRequest(query=self.query, method=self.by, max_hops=hops, limit=MOST_CHUNKS)
        answer = await self.graph.expand(request)
        self.state = answer.generation
        if not answer.entities:
            self.method = "no entity of the query is known"
            return
        await self._add(leg_query, answer.chunks)
        self.names = answer.names
        names = ", ".join(entity.name for entity in answer.entities[:NAMES_SHOWN])
        self.method = f"{answer.store}: " + (f"up to {MOST_HOPS} hops from {names}" if over_relations else names)
        if not over_relations and any(one.about for one in self.evidence.values()):
            self.residual_query = answer.residual

    def seeds(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Returns the scored candidates to start bridges from."""
        return seeds(scores, self.evidence) if self.by is GraphMethod.bridge and not self.error else {}

    async def cross(self, leg_query: LegQuery, begin: Mapping[int, float]) -> None:
        """Adds the chunks that bridges from these seeds lead to. Raises ServiceSilent."""
        assert self.graph is not None
        places = [
            SeedChunk(chunk_id=self.evidence[chunk].chunk_id, document_id=self.evidence[chunk].document_id, score=score)
            for chunk, score in begin.items()
        ]
        request = ExpandRequest(
            query=self.query, method=self.by, max_hops=MOST_HOPS, names=self.names, seeds=places, limit=MOST_CHUNKS
        )
        answer = await self.graph.expand(request)
        if answer.generation != self.state:
            self.state = None
        await self._add(leg_query, [one for one in answer.chunks if one.hop])
        self.method = f"{self.method}; bridges from {len(places)} chunks"

    async def _add(self, leg_query: LegQuery, chunks: Sequence[ExpandedChunk]) -> None:
        numbers = await _numbers(leg_query, chunks)
        for one in chunks:
            number = numbers.get((str(one.document_id), one.chunk_id))
            if number is not None:
                known = self.evidence.setdefault(number, GraphEvidence(one.chunk_id, one.document_id))
                known.add(one, over_relations=self.by is GraphMethod.hops)
        self.found = [ScoredChunk(chunk, score) for chunk, score in ranked(self.evidence)]


async def _numbers(leg_query: LegQuery, chunks: Sequence[ExpandedChunk]) -> dict[tuple[str, str], int]:
    """Returns numbers by (document, chunk id) of the chunks that are in the snapshot and pass the filters."""
    if not chunks:
        return {}
    async with leg_query.snapshot.beside() as reader:
        rows = await reader.rows(
            ReadingSql.numbers_of_chunks,
            chunk_ids=[one.chunk_id for one in chunks],
            document_ids=[one.document_id for one in chunks],
        )
    left = None if leg_query.scope is None else leg_query.scope.has([number >> 20 for number, _, _ in rows])
    return {
        (str(document_id), chunk_id): number
        for position, (number, document_id, chunk_id) in enumerate(rows)
        if left is None or left[position]
    }
