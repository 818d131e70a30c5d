"""Routes of entities, expansion, documents and status: parse, call, return."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query

from contracts.base import Page, ProblemBody, Text
from contracts.graph_expansion import ExpandRequest, ExpandResponse
from contracts.knowledge_graph import (
    Entity,
    EntityDetail,
    GraphedDocument,
    GraphGeneration,
    GraphStatus,
)
from contracts.registry import INGESTION, RETRIEVAL
from knowledge_graph.extraction.names import name_key
from knowledge_graph.graph_store import EntityFilter, StoredEntity
from knowledge_graph.queries import MinMentions, UsedQueries
from knowledge_graph.recording.generation import Generations
from service_kit.auth import Principal, Viewer, viewer_or, viewer_through
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/graph", tags=["knowledge-graph"])
Searching = Annotated[Principal, Depends(viewer_through(RETRIEVAL))]
Surveyed = Annotated[UUID, Depends(viewer_or(INGESTION))]


@router.get("/entities", summary="List entities")
async def list_entities(
    caller: Viewer,
    queries: UsedQueries,
    q: Annotated[Text | None, Query(max_length=200, description="Beginning of the name, in any spelling")] = None,
    entity_type: Annotated[Text | None, Query(max_length=50, description="Such as SERVICE or PERSON")] = None,
    min_mentions: MinMentions = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Entity]:
    """Lists the entities of the workspace's documents, most mentioned first.

    Without `q`, only those mentioned at least as often as the deployment requires (`GRAPH_MIN_ENTITY_FREQ`, default 2);
    `min_mentions` 1 lists all. Entities matching `q` are found however rarely they are mentioned.
    """
    prefix = name_key(q) if q is not None else None
    if prefix == "":
        return Page(items=[])
    least = 1 if prefix and min_mentions is None else queries.least(min_mentions)
    mentions, last = decode_cursor(cursor, int, str)
    after = None if mentions is None or last is None else (mentions, last)
    found = await queries.list_entities(caller.workspace_id, EntityFilter(prefix, entity_type, after, limit + 1, least))
    return page(found, limit, lambda one: (one.mentions, one.id), StoredEntity.to_contract)


@router.get("/entities/{entity_id}", summary="Show an entity", responses={404: {"model": ProblemBody}})
async def show_entity(
    entity_id: Annotated[Text, Path(max_length=64)], caller: Viewer, queries: UsedQueries
) -> EntityDetail:
    """Returns the entity with its 100 strongest relations and the 100 chunks that mention it most often."""
    return await queries.detail(caller.workspace_id, entity_id)


@router.post("/expand", summary="Expand names to chunks")
async def expand(body: ExpandRequest, caller: Searching, queries: UsedQueries) -> ExpandResponse:
    """Finds the known names in a text (or takes names) and returns the chunks that the graph leads to from there.

    `hops` follows relations to the chunks that mention the entities reached; `bridge` starts from the best chunks with
    a name and finds the chunks about what these mention. Each chunk has its path. Unknown names give an empty response.
    """
    return await queries.expand(caller.workspace_id, body)


@router.get("/documents", summary="List the documents in the graph")
async def list_documents(
    workspace_id: Surveyed, queries: UsedQueries, limit: Limit = 50, cursor: Cursor = None
) -> Page[GraphedDocument]:
    """Lists what the graph holds about each document, by id. `projected` is false until the document's latest change is
    projected.
    """
    (after,) = decode_cursor(cursor, UUID)
    return page(await queries.documents(workspace_id, after, limit + 1), limit, lambda one: (one.document_id,))


@router.get("/status", summary="Show the state of the graph")
async def status(caller: Viewer, queries: UsedQueries) -> GraphStatus:
    """Returns counts for the workspace, the store that answers at present, and how names are found."""
    return await queries.status(caller.workspace_id)


@router.get("/generation", summary="Show the graph's generation token")
async def show_generation(
    caller: Searching, generations: Annotated[Generations, from_state("generations")]
) -> GraphGeneration:
    """An opaque token that changes whenever graph answers may change; use it in cache keys."""
    return GraphGeneration(generation=await generations.token(caller.workspace_id))
