"""Routes of the subgraph and the export: parse, call, return."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from contracts.base import Name, ProblemBody
from contracts.graph_picture import ExportFormat, Subgraph
from contracts.graph_tools import RelationType
from knowledge_graph.export.export import Export
from knowledge_graph.export.formats import ExportForm, GraphMl, JsonLines, Turtle
from knowledge_graph.export.picture import SubgraphQuery, subgraph
from knowledge_graph.graph_store import SubgraphBounds
from knowledge_graph.queries import MinMentions, UsedQueries
from service_kit.auth import Viewer
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/graph", tags=["knowledge-graph"])
FORMS: dict[ExportFormat, type[ExportForm]] = {
    ExportFormat.graphml: GraphMl,
    ExportFormat.turtle: Turtle,
    ExportFormat.jsonl: JsonLines,
}
FILES: Responses = {
    200: {
        "description": "The file",
        "content": {form.media_type: {"schema": {"type": "string"}} for form in FORMS.values()},
    },
    503: {"model": ProblemBody, "description": "Two exports are already running"},
}


Relations = Annotated[list[RelationType] | None, Query(max_length=20, description="Only relations of these types")]


@router.get("/subgraph", summary="Show a part of the graph as nodes and edges", responses={404: {"model": ProblemBody}})
async def show_subgraph(
    caller: Viewer,
    queries: UsedQueries,
    entity: Annotated[Name | None, Query(description="A name, in any spelling, or an id")] = None,
    hops: Annotated[int, Query(ge=1, le=3)] = 1,
    max_nodes: Annotated[int, Query(ge=1, le=5_000)] = 100,
    max_edges: Annotated[int, Query(ge=0, le=20_000)] = 300,
    min_mentions: MinMentions = None,
    relation_type: Relations = None,
) -> Subgraph:
    """Returns the graph around an entity, the nearest first; without one, the entities with the most relations and what
    links them.

    `min_mentions` leaves out entities mentioned less often, except the centre; the default is the deployment's
    `GRAPH_MIN_ENTITY_FREQ` (2), and 1 shows all.
    """
    types = tuple(relation_type) if relation_type else None
    bounds = SubgraphBounds(max_nodes, max_edges, queries.least(min_mentions), types)
    return await subgraph(queries.reader, caller.workspace_id, SubgraphQuery(entity, hops, bounds))


@router.get("/export", summary="Export the graph", response_class=StreamingResponse, responses=FILES)
async def export_graph(
    caller: Viewer,
    exports: Annotated[Export, from_state("export")],
    format: Annotated[ExportFormat, Query()] = ExportFormat.graphml,
    min_mentions: Annotated[
        int, Query(ge=1, le=1_000_000, description="Only entities mentioned at least this often")
    ] = 1,
) -> StreamingResponse:
    """Streams every entity, then every relation, as of one moment.

    GraphML is for drawing programs; Turtle can be imported again with `POST /v1/graph/triples`; JSON Lines has one
    object per line. A download that breaks off is incomplete.
    """
    form = FORMS[format]()
    parts = exports.parts(caller.workspace_id, form, min_mentions)
    first = await anext(parts)
    named = {"Content-Disposition": f'attachment; filename="graph.{form.extension}"'}
    return StreamingResponse(_encoded(first, parts), media_type=form.media_type, headers=named)


async def _encoded(first: str, parts: AsyncGenerator[str]) -> AsyncGenerator[bytes]:
    try:
        if first:
            yield first.encode()
        async for part in parts:
            if part:
                yield part.encode()
    finally:
        await parts.aclose()
