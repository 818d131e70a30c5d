"""Searches for the beginnings of documents that a question names, where their authors and dates stand."""

from __future__ import annotations

from contracts.retrieval import Hit, SearchRequest, SearchResponse
from orchestrator.citations.answering import PassageHeading
from orchestrator.citations.document_lines import asks_about_document
from orchestrator.citations.question import parts_of

MOST_DOCUMENTS = 3
CHUNKS_OF_DOCUMENT = 4
FIELDS = "title author date created by status version"
"""Words that the beginnings of documents have, which a question about one of them need not have."""


def request_for_beginnings(request: SearchRequest, response: SearchResponse) -> SearchRequest | None:
    """Returns a search for the first chunks of found documents that the query names; None if it needs none of them."""
    parts = parts_of(request.query)
    begun = {hit.document_id for hit in response.hits if hit.chunk_index == 0}
    names: dict[str, str] = {}
    for hit in response.hits:
        heading = PassageHeading(hit.document_title or hit.document_name, "", hit.document_name)
        if hit.document_id not in begun and any(
            asks_about_document(part, heading.names, heading.called) for part in parts
        ):
            names.setdefault(str(hit.document_id), heading.title)
    names = dict(list(names.items())[:MOST_DOCUMENTS])
    if not names:
        return None
    found = {
        "query": f"{FIELDS} {' '.join(names.values())}",
        "queries": [],
        "document_ids": list(names),
        "k": CHUNKS_OF_DOCUMENT * len(names),
        "highlight": False,
        "use_graph": False,
    }
    return SearchRequest.model_validate({**request.model_dump(), **found})


def with_beginnings(response: SearchResponse, beginnings: SearchResponse) -> SearchResponse:
    """Returns the response with the first chunks among `beginnings`, each with the best score of its document."""
    best: dict[object, Hit] = {}
    for hit in response.hits:
        best.setdefault(hit.document_id, hit)
    added = [
        hit.model_copy(update={"score": best[hit.document_id].score})
        for hit in beginnings.hits
        if hit.chunk_index == 0 and hit.document_id in best
    ]
    return response.model_copy(update={"hits": [*response.hits, *added]})
