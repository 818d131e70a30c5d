"""The graph leg: chunks of the search's snapshot that the knowledge graph reaches from the names of a query.

`hops` takes one request. `bridge` takes two: alongside the other legs, which names of the query are known and which
chunks have them; then, from the best of these chunks, which chunks they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from contracts.graph_expansion import ExpandedChunk, ExpandRequest, ExpandResponse, GraphMethod, LinkedName, SeedChunk
from contracts.knowledge_graph import GraphGeneration
from retrieval.dense.leg import DenseLeg
from retrieval.graph.evidence import GraphEvidence, ranked, seeds
from retrieval.reading.leg import Leg, LegQuery
from retrieval.reading.reader import ReadingSql, ScoredChunk
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

MOST_CHUNKS = 100
MOST_HOPS = 2
NAMES_SHOWN = 5


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


@dataclass
class GraphLeg(Leg):
    """The graph leg. `evidence` is by chunk; `residual`, if any, is the dense leg for the query without known names.

    `generation` is the token of the graph's state, None if the graph changed between the two requests.
    """

    graph: GraphOf | None = None
    query: str = ""
    by: GraphMethod = GraphMethod.bridge
    evidence: dict[int, GraphEvidence] = field(default_factory=dict)
    residual: DenseLeg | None = None
    residual_query: str = ""
    names: list[LinkedName] = field(default_factory=list)
    generation: str | None = None

    async def link(self, asked: LegQuery) -> None:
        """Finds chunks by the query's names; nothing, without an error, if none is known. Raises ServiceSilent."""
        assert self.graph is not None
        over_relations = self.by is GraphMethod.hops
        hops = MOST_HOPS if over_relations else 0
        request = ExpandRequest(query=self.query, method=self.by, max_hops=hops, limit=MOST_CHUNKS)
        answer = await self.graph.expand(request)
        self.generation = answer.generation
        if not answer.entities:
            self.method = "no entity of the query is known"
            return
        await self._add(asked, answer.chunks)
        self.names = answer.names
        names = ", ".join(entity.name for entity in answer.entities[:NAMES_SHOWN])
        self.method = f"{answer.store}: " + (f"up to {MOST_HOPS} hops from {names}" if over_relations else names)
        if not over_relations and any(one.about for one in self.evidence.values()):
            self.residual_query = answer.residual

    def seeds(self, scores: Mapping[int, float]) -> dict[int, float]:
        """Returns the scored candidates to start bridges from."""
        return seeds(scores, self.evidence) if self.by is GraphMethod.bridge and not self.error else {}

    async def cross(self, asked: LegQuery, begin: Mapping[int, float]) -> None:
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
        if answer.generation != self.generation:
            self.generation = None
        await self._add(asked, [one for one in answer.chunks if one.hop])
        self.method = f"{self.method}; bridges from {len(places)} chunks"

    def discard(self) -> None:
        """Discards everything after a failure, including what was found before it."""
        self.evidence, self.found, self.residual = {}, [], None

    async def _add(self, asked: LegQuery, chunks: Sequence[ExpandedChunk]) -> None:
        numbers = await _numbers(asked, chunks)
        for one in chunks:
            number = numbers.get((str(one.document_id), one.chunk_id))
            if number is not None:
                known = self.evidence.setdefault(number, GraphEvidence(one.chunk_id, one.document_id))
                known.add(one, over_relations=self.by is GraphMethod.hops)
        self.found = [ScoredChunk(chunk, score) for chunk, score in ranked(self.evidence)]


async def _numbers(asked: LegQuery, chunks: Sequence[ExpandedChunk]) -> dict[tuple[str, str], int]:
    """Returns numbers by (document, chunk id) of the chunks that are in the snapshot and pass the filters."""
    if not chunks:
        return {}
    async with asked.snapshot.beside() as reader:
        rows = await reader.rows(
            ReadingSql.numbers_of_chunks,
            chunk_ids=[one.chunk_id for one in chunks],
            document_ids=[one.document_id for one in chunks],
        )
    left = None if asked.scope is None else asked.scope.has([number >> 20 for number, _, _ in rows])
    return {
        (str(document_id), chunk_id): number
        for position, (number, document_id, chunk_id) in enumerate(rows)
        if left is None or left[position]
    }
