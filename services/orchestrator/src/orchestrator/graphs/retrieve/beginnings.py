"""Searches for documents that a question names, and for their beginnings, where their authors and dates stand."""

from __future__ import annotations

from contracts.retrieval import Hit, SearchRequest, SearchResponse
from orchestrator.citations.candidates import PassageHeading
from orchestrator.citations.document_lines import asks_about_document, asks_for_kind, is_asked_kind
from orchestrator.citations.question import QuestionPart, parts_of

MOST_DOCUMENTS = 3
CHUNKS_OF_DOCUMENT = 4
FURTHER, MOST_HITS = 4, 100
"""The search for a document that is meant asks for four times the hits, at most for what a search returns."""
FIELDS = "title author date created by status version"
"""Words that the beginnings of documents have, which a question about one of them need not have."""


def request_for_named(request: SearchRequest, response: SearchResponse) -> SearchRequest | None:
    """Returns the same search for more hits if the query means a kind of document and no hit is of it, else None.

    "When was the UserDB incident?": descriptions of UserDB may fill the hits, ahead of the report on the incident.
    """
    asking = [part for part in parts_of(request.query) if asks_for_kind(part)]
    if not asking or request.k == MOST_HITS or any(_is_of_kind(asking, hit) for hit in response.hits):
        return None
    more = {"k": min(MOST_HITS, FURTHER * request.k), "highlight": False}
    return SearchRequest.model_validate({**request.model_dump(), **more})


def with_named(response: SearchResponse, further: SearchResponse) -> SearchResponse:
    """Returns the response with the hits of `further` in documents that the query means, at most three documents."""
    asking = [part for part in parts_of(response.query) if asks_for_kind(part)]
    meant = [hit for hit in further.hits if _is_of_kind(asking, hit)]
    documents = list(dict.fromkeys(hit.document_id for hit in meant))[:MOST_DOCUMENTS]
    added = [hit for hit in meant if hit.document_id in documents]
    return response.model_copy(update={"hits": [*response.hits, *added]})


def request_for_beginnings(request: SearchRequest, response: SearchResponse) -> SearchRequest | None:
    """Returns a search for the first chunks of found documents that the query names; None if it needs none of them."""
    parts = parts_of(request.query)
    begun = {hit.document_id for hit in response.hits if hit.chunk_index == 0}
    names: dict[str, str] = {}
    for hit in response.hits:
        if hit.document_id not in begun and _is_meant(parts, hit):
            names.setdefault(str(hit.document_id), hit.document_title or hit.document_name)
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


def _is_meant(parts: list[QuestionPart], hit: Hit) -> bool:
    heading = _heading(hit)
    return any(asks_about_document(part, heading.names, heading.called) for part in parts)


def _is_of_kind(parts: list[QuestionPart], hit: Hit) -> bool:
    heading = _heading(hit)
    return any(is_asked_kind(part, heading.names) for part in parts)


def _heading(hit: Hit) -> PassageHeading:
    return PassageHeading(hit.document_title or hit.document_name, "", hit.document_name)
