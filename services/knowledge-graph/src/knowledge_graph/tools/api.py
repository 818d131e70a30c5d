"""Routes of the tools: parse, call, return."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query

from contracts.base import Page, ProblemBody, Text
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
from contracts.knowledge_graph import EntityPassage
from contracts.registry import ORCHESTRATOR
from knowledge_graph.tools.chunks import MOST_DOCUMENTS, ChunkReference
from knowledge_graph.tools.passages import mentioned_passages
from knowledge_graph.tools.toolbox import Toolbox, described
from service_kit.auth import Principal, Viewer, viewer_through
from service_kit.pagination import Cursor, decode_cursor, page
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/graph/tools", tags=["knowledge-graph"])
entities = APIRouter(prefix="/v1/graph/entities", tags=["knowledge-graph"])


UsedToolbox = Annotated[Toolbox, from_state("toolbox")]
Asking = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR))]


@router.get("", summary="List the graph's tools")
async def list_tools(_: Viewer) -> ToolList:
    """Returns name, description and the JSON schema of the parameters of each tool, as chat models take them."""
    return described()


@router.post("/lookup_facts", summary="Look up the facts about an entity")
async def lookup_facts(body: LookupFacts, caller: Viewer, tools: UsedToolbox) -> ToolResult[EntityFacts]:
    """Returns type, aliases, relations with the sentences that state them, neighbours, and passages about the entity.

    A misspelled or ambiguous name is resolved to the nearest entity; `alternatives` lists the others. For an unknown
    name `success` is false and `suggestions` lists similar names.
    """
    return await tools.lookup_facts(caller, body)


@router.post("/summarize_document", summary="Find passages about a topic, to summarise")
async def summarize(body: SummarizeDocument, caller: Viewer, tools: UsedToolbox) -> ToolResult[TopicPassages]:
    """Returns passages found by the search, or what the graph knows about the topic if the search does not answer;
    `note` says so.
    """
    return await tools.summarize_document(caller, body)


@router.post("/run_calculation", summary="Calculate counts, averages and rankings")
async def calculate(body: RunCalculation, caller: Viewer, tools: UsedToolbox) -> ToolResult[Calculation]:
    """Answers a short English question, or computes an aggregation by name.

    `understood` says what was calculated. For a question that is not understood `success` is false and `suggestions`
    lists what can be asked.
    """
    return await tools.run_calculation(caller, body)


@router.post("/analyze_dependencies", summary="Analyse the dependencies of an entity")
async def analyze(body: AnalyzeDependencies, caller: Viewer, tools: UsedToolbox) -> ToolResult[DependencyAnalysis]:
    """Returns dependencies in both directions with the number of steps, cycles, and how critical the entity is, with
    the reason.
    """
    return await tools.analyze_dependencies(caller, body)


@router.post("/shortest_path", summary="Find the shortest paths between two entities")
async def find_paths(body: ShortestPath, caller: Viewer, tools: UsedToolbox) -> ToolResult[PathsFound]:
    """Follows relations in either direction; if there is no path, the response is a success with a `note`."""
    return await tools.shortest_path(caller, body)


@router.post("/neighbours", summary="List the neighbours of an entity")
async def find_neighbours(body: Neighbours, caller: Viewer, tools: UsedToolbox) -> ToolResult[NeighboursFound]:
    """Returns the most strongly related entities first, with the types of the relations."""
    return await tools.neighbours(caller, body)


@router.post("/answer_question", summary="Answer a question about structure")
async def answer(body: AnswerQuestion, caller: Asking, tools: UsedToolbox) -> ToolResult[StructuralAnswer]:
    """Answers in words, with the place that states each row: what depends on what, what an outage affects, who owns
    what, how two things are connected.

    `success` is false for every other question, and if nothing is known; then search the documents.
    """
    return await tools.answer_question(caller, body)


@entities.get("/{entity_id}/passages", summary="List what mentions an entity", responses={404: {"model": ProblemBody}})
async def list_passages(
    entity_id: Annotated[Text, Path(max_length=64)],
    caller: Viewer,
    tools: UsedToolbox,
    limit: Annotated[int, Query(ge=1, le=MOST_DOCUMENTS)] = 10,
    cursor: Cursor = None,
) -> Page[EntityPassage]:
    """Returns the chunks that mention it most often first, with their texts and the places of its name in them."""
    mentions, document_id, chunk_id = decode_cursor(cursor, int, UUID, str)
    after = None
    if mentions is not None and document_id is not None and chunk_id is not None:
        after = mentions, document_id, chunk_id
    rows = await mentioned_passages(tools.texts, caller.workspace_id, entity_id, after, limit + 1)
    found = page(rows, limit, lambda one: one.position)
    places = [ChunkReference(one.document_id, one.chunk_id) for one in found.items]
    read = await tools.texts.read(caller.workspace_id, places)
    return Page(items=[one.shown(read) for one in found.items], next_cursor=found.next_cursor)
