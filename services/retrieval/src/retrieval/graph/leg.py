"""What the knowledge graph reaches from the entities of a query, as passages of the search's snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ValidationError

from contracts.knowledge_graph import ExpandedChunk, ExpandRequest, ExpandResponse
from retrieval.search.leg import Asked, Leg
from retrieval.search.reader import Scored
from service_kit.auth import Principal
from service_kit.http_service import HttpService, ServiceSilent

MOST_CHUNKS = 100
MOST_HOPS = 2


@dataclass
class GraphLeg(Leg):
    """`paths`: by chunk, the names of the entities from the query to it."""

    paths: dict[int, list[str]] = field(default_factory=dict)

    async def run(self, graph: HttpService, caller: Principal, query: str, asked: Asked) -> None:
        """Finds nothing, without an error, where the graph knows no entity of the query. Raises ServiceSilent."""
        expanded = await _expand(graph, caller, query)
        if not expanded.entities:
            self.method = "no entity of the query is known"
            return
        names = ", ".join(entity.name for entity in expanded.entities[:5])
        numbers = await _numbers(asked, expanded.chunks)
        for one in expanded.chunks:
            if (number := numbers.get((str(one.document_id), one.chunk_id))) is not None and number not in self.paths:
                self.found.append(Scored(number, one.score))
                self.paths[number] = one.path
        self.found.sort(key=lambda one: (-one.score, one.chunk))
        self.method = f"{expanded.store}: up to {MOST_HOPS} hops from {names}"


async def _expand(graph: HttpService, caller: Principal, query: str) -> ExpandResponse:
    body = ExpandRequest(query=query, max_hops=MOST_HOPS, limit=MOST_CHUNKS).model_dump(mode="json")
    answer = await graph.ask(caller, "POST", "/v1/graph/expand", json=body)
    if answer.status_code != 200:
        raise ServiceSilent(f"{graph.name} answered with status {answer.status_code}")
    try:
        return ExpandResponse.model_validate_json(answer.content)
    except ValidationError as error:
        raise ServiceSilent(f"{graph.name} gave an answer that cannot be read") from error


async def _numbers(asked: Asked, chunks: list[ExpandedChunk]) -> dict[tuple[str, str], int]:
    """By (document, chunk id), of those that the snapshot has and the filters leave."""
    if not chunks:
        return {}
    async with asked.snapshot.beside() as reader:
        rows = await reader.rows(
            "numbers_of_chunks",
            chunk_ids=[one.chunk_id for one in chunks],
            document_ids=[one.document_id for one in chunks],
        )
    left = None if asked.scope is None else asked.scope.has([number >> 20 for number, _, _ in rows])
    return {
        (str(document_id), chunk_id): number
        for position, (number, document_id, chunk_id) in enumerate(rows)
        if left is None or left[position]
    }
