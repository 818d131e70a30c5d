"""The knowledge graph: entities, relations and the chunks near them; its tools, imports and corrections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.graph_corrections import Correction, CorrectionRequest
from contracts.graph_expansion import ExpandRequest, ExpandResponse
from contracts.graph_picture import ExportFormat, Subgraph
from contracts.graph_tools import (
    AnalyzeDependencies,
    AnswerQuestion,
    Calculation,
    DependencyAnalysis,
    EntityFacts,
    LookupFacts,
    Neighbours,
    NeighboursFound,
    PathsFound,
    RunCalculation,
    ShortestPath,
    StructuralAnswer,
    SummarizeDocument,
    ToolList,
    ToolResult,
    TopicPassages,
)
from contracts.graph_triples import TripleFormat, TripleImport
from contracts.knowledge_graph import Entity, EntityDetail, EntityPassage, GraphStatus

TOOLS, TRIPLES, CORRECTIONS = "/v1/graph/tools", "/v1/graph/triples", "/v1/graph/corrections"
IMPORT_SECONDS = 120.0
PASSAGES_AT_ONCE = 12


class GraphTools:
    """`client.graph.tools`. An unsuccessful result raises nothing: `error` says why, `suggestions` what to try."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def all(self) -> ToolList:
        """Returns names, descriptions and parameters, in the form that chat models take."""
        return await self.transport.get(TOOLS, ToolList)

    async def facts(self, parameters: LookupFacts) -> ToolResult[EntityFacts]:
        return await self.transport.query(f"{TOOLS}/lookup_facts", parameters, ToolResult[EntityFacts])

    async def passages(self, parameters: SummarizeDocument) -> ToolResult[TopicPassages]:
        return await self.transport.query(f"{TOOLS}/summarize_document", parameters, ToolResult[TopicPassages])

    async def calculate(self, parameters: RunCalculation) -> ToolResult[Calculation]:
        return await self.transport.query(f"{TOOLS}/run_calculation", parameters, ToolResult[Calculation])

    async def dependencies(self, parameters: AnalyzeDependencies) -> ToolResult[DependencyAnalysis]:
        return await self.transport.query(f"{TOOLS}/analyze_dependencies", parameters, ToolResult[DependencyAnalysis])

    async def answer(self, parameters: AnswerQuestion) -> ToolResult[StructuralAnswer]:
        return await self.transport.query(f"{TOOLS}/answer_question", parameters, ToolResult[StructuralAnswer])

    async def paths(self, parameters: ShortestPath) -> ToolResult[PathsFound]:
        return await self.transport.query(f"{TOOLS}/shortest_path", parameters, ToolResult[PathsFound])

    async def neighbours(self, parameters: Neighbours) -> ToolResult[NeighboursFound]:
        return await self.transport.query(f"{TOOLS}/neighbours", parameters, ToolResult[NeighboursFound])


class Graph:
    """`client.graph`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.tools = GraphTools(transport)

    def entities(
        self, *, query: str | None = None, entity_type: str | None = None, min_mentions: int | None = None
    ) -> AsyncIterator[Entity]:
        """Lists entities, the most mentioned first; with `query`, all whose name begins with it, in any spelling.

        Without `query`, entities need `min_mentions`, by default the deployment's minimum (2); 1 lists all.
        """
        params = {"q": query, "entity_type": entity_type, "min_mentions": min_mentions}
        return every(self.transport, "/v1/graph/entities", Page[Entity], params)

    async def entity(self, entity_id: str) -> EntityDetail:
        """Returns the entity with its relations and the chunks that mention it."""
        return await self.transport.get(path("v1/graph/entities", entity_id), EntityDetail)

    def passages(self, entity_id: str) -> AsyncIterator[EntityPassage]:
        """Lists the chunks that mention the entity, with their texts and the places of its name; most often first."""
        place = path("v1/graph/entities", entity_id, "passages")
        return every(self.transport, place, Page[EntityPassage], {"limit": PASSAGES_AT_ONCE})

    async def expand(
        self,
        query: str | None = None,
        *,
        entities: Sequence[str] = (),
        max_hops: int = 2,
        limit: int = 50,
        min_mentions: int | None = None,
    ) -> ExpandResponse:
        """Returns the chunks near the given entities, or near those that the query names.

        `max_hops` is 0 to 3, through entities with at least `min_mentions` (None: the deployment's minimum).
        """
        request = ExpandRequest(
            query=query, entities=list(entities), max_hops=max_hops, limit=limit, min_mentions=min_mentions
        )
        return await self.transport.query("/v1/graph/expand", request, ExpandResponse)

    async def status(self) -> GraphStatus:
        """Returns the size of the graph, and which store answers."""
        return await self.transport.get("/v1/graph/status", GraphStatus)

    async def subgraph(
        self,
        entity: str | None = None,
        *,
        hops: int = 1,
        max_nodes: int = 100,
        max_edges: int = 300,
        min_mentions: int | None = None,
        relation_types: Sequence[str] = (),
    ) -> Subgraph:
        """Returns nodes and edges around an entity, or those of the most central part of the graph.

        Entities need `min_mentions`, by default the deployment's minimum (2). Raises NotFound for an unknown entity.
        """
        params = {
            "entity": entity,
            "hops": hops,
            "max_nodes": max_nodes,
            "max_edges": max_edges,
            "min_mentions": min_mentions,
            "relation_type": list(relation_types) or None,
        }
        return await self.transport.get("/v1/graph/subgraph", Subgraph, params)

    @asynccontextmanager
    async def export(
        self, format: ExportFormat = ExportFormat.graphml, *, min_mentions: int = 1
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens the whole graph as a file: `async with client.graph.export() as parts`.

        Raises Unreachable if the download breaks off; the parts received until then are incomplete.
        """
        params = {"format": format.value, "min_mentions": min_mentions}
        async with self.transport.stream("/v1/graph/export", params=params) as response:
            yield response.aiter_bytes()

    async def bring_triples(self, name: str, content: bytes, format: TripleFormat) -> TripleImport:
        """Imports triples, replacing those imported earlier under this name. Requires an editor's key.

        Raises InvalidRequest if they cannot be read; its `extra["errors"]` has lines and messages.
        """
        return await self.transport.fetch(
            "POST",
            TRIPLES,
            TripleImport,
            params={"name": name, "format": format.value},
            content=content,
            headers={"Content-Type": "application/octet-stream"},
            repeatable=True,
            timeout=IMPORT_SECONDS,
        )

    def imports(self) -> AsyncIterator[TripleImport]:
        """Lists the imported sets of triples, by name."""
        return every(self.transport, TRIPLES, Page[TripleImport])

    async def correct(self, correction: CorrectionRequest) -> Correction:
        """Corrects the graph: confirms, rejects or adds a fact, merges or splits names, or sets an entity's type.

        Requires an editor's key. Raises InvalidRequest for names and facts that the graph does not know.
        """
        return await self.transport.fetch("POST", CORRECTIONS, Correction, body=correction)

    def corrections(self) -> AsyncIterator[Correction]:
        """Lists the corrections in force, newest first."""
        return every(self.transport, CORRECTIONS, Page[Correction])

    async def undo_correction(self, correction_id: UUID) -> None:
        """Undoes a correction. Requires an editor's key."""
        await self.transport.send("DELETE", path("v1/graph/corrections", correction_id))

    async def delete_import(self, import_id: UUID) -> None:
        """Deletes an import, with everything that only it states. Requires an editor's key."""
        await self.transport.send("DELETE", path("v1/graph/triples", import_id))
