"""Finds the chunks about a topic, so that the caller can write a summary that cites them."""

from __future__ import annotations

from uuid import UUID

from contracts.graph_tools import CitedPassage, SummarizeDocument, TopicPassages
from contracts.retrieval import Hit, SearchRequest, SearchResponse
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.tools.chunks import ChunkTexts, beginning
from knowledge_graph.tools.naming import NoToolResult, meant
from service_kit.auth import Principal
from service_kit.http_service import HttpService

NO_MATCH = "nothing that was found is likely to be about the topic"


async def from_search(retrieval: HttpService, caller: Principal, request: SummarizeDocument) -> TopicPassages:
    """Searches on the caller's behalf. Raises NoToolResult if nothing is found, ServiceSilent if retrieval does not
    respond.
    """
    search = SearchRequest(query=request.topic, k=request.max_passages)
    found = await retrieval.fetch(caller, "POST", "/v1/search", SearchResponse, search)
    if not found.hits:
        raise NoToolResult(f"no document says anything about {request.topic!r}")
    return TopicPassages(
        topic=request.topic,
        passages=[_cited(hit) for hit in found.hits],
        found_by="search",
        note=None if found.good_match else NO_MATCH,
    )


async def from_graph(
    store: GraphStore, texts: ChunkTexts, workspace_id: UUID, request: SummarizeDocument, why: str
) -> TopicPassages:
    """Returns chunks about the entity that the topic names; the note gives the reason `why`. Raises NoToolResult."""
    found = await meant(store, workspace_id, request.topic)
    about = await texts.about(workspace_id, found.id, request.max_passages)
    if not about:
        raise NoToolResult(f"no passage about {found.stored.name!r} can be read now ({why})")
    note = f"{why}: these are the passages about {found.stored.name} that the graph knows"
    return TopicPassages(topic=request.topic, passages=about, found_by="graph", note=note)


def _cited(hit: Hit) -> CitedPassage:
    return CitedPassage(
        chunk_id=hit.chunk_id,
        document_id=hit.document_id,
        document_name=hit.document_name,
        text=beginning(hit.content),
        section=" > ".join(hit.heading_path) or hit.section_title,
        page=hit.page,
        score=round(hit.score, 4),
    )
