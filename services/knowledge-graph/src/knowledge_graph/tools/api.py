"""Routes of the tools: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.graph_tools import (
    AnalyzeDependencies,
    Calculation,
    DependencyAnalysis,
    EntityFacts,
    LookupFacts,
    Neighbours,
    NeighboursFound,
    PathsFound,
    RunCalculation,
    ShortestPath,
    SummarizeDocument,
    ToolList,
    ToolResult,
    TopicPassages,
)
from knowledge_graph.tools.toolbox import Toolbox, described
from service_kit.auth import Viewer

router = APIRouter(prefix="/v1/graph/tools", tags=["knowledge-graph"])


async def toolbox(request: Request) -> Toolbox:
    found: Toolbox = request.app.state.toolbox
    return found


Tools = Annotated[Toolbox, Depends(toolbox)]


@router.get("", summary="List the graph's tools")
async def list_tools(_: Viewer) -> ToolList:
    """Names, descriptions and the JSON schema of each one's parameters, as chat models take them."""
    return described()


@router.post("/lookup_facts", summary="What the documents say of an entity")
async def look_facts_up(body: LookupFacts, caller: Viewer, tools: Tools) -> ToolResult[EntityFacts]:
    """Type, aliases, relations with the sentences that state them, neighbours, and passages about it. A name that is
    misspelled or means several is taken for the nearest; `alternatives` has the others. An unknown one is no success,
    and `suggestions` has similar names."""
    return await tools.lookup_facts(caller, body)


@router.post("/summarize_document", summary="The passages about a topic, to summarise")
async def summarize(body: SummarizeDocument, caller: Viewer, tools: Tools) -> ToolResult[TopicPassages]:
    """Found by the search; when it does not answer, what the graph knows to be about the topic, and `note` says so."""
    return await tools.summarize_document(caller, body)


@router.post("/run_calculation", summary="Counts, averages and rankings over the graph")
async def calculate(body: RunCalculation, caller: Viewer, tools: Tools) -> ToolResult[Calculation]:
    """A short English question, or an aggregation by name. `understood` says what was calculated; a question that is
    not understood is no success, and `suggestions` lists what can be asked."""
    return await tools.run_calculation(caller, body)


@router.post("/analyze_dependencies", summary="What depends on an entity, and on what it depends")
async def analyze(body: AnalyzeDependencies, caller: Viewer, tools: Tools) -> ToolResult[DependencyAnalysis]:
    """In both directions, over others too with the number of steps; cycles; and how critical it is, with the reason."""
    return await tools.analyze_dependencies(caller, body)


@router.post("/shortest_path", summary="The shortest ways between two entities")
async def find_ways(body: ShortestPath, caller: Viewer, tools: Tools) -> ToolResult[PathsFound]:
    """Over relations in either direction; none is a success with a `note`."""
    return await tools.shortest_path(caller, body)


@router.post("/neighbours", summary="The entities around an entity")
async def find_neighbours(body: Neighbours, caller: Viewer, tools: Tools) -> ToolResult[NeighboursFound]:
    """The most strongly related first, with the types of the relations."""
    return await tools.neighbours(caller, body)
