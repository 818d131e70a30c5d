"""What changes in a workspace, titles and tags, why a search misses a document, and what mentions an entity."""

from __future__ import annotations

import json as jsonlib
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest

from attractor_client import AttractorClient, RetryPolicy
from contracts.workspace_events import DocumentChange

ONE = str(UUID(int=1))
DOCUMENT = {"document_id": ONE, "state": "indexed"}


async def test_events_are_followed_over_connections_that_end(server: Any, events: Any) -> None:
    server.on(
        "GET",
        "/v1/events",
        events(("document", DOCUMENT), ("weather", {"sunny": True}), cut=True),
        events(("document", {**DOCUMENT, "state": "graphed"}), after=2),
    )
    found = []
    async with (
        AttractorClient(server.url, retry=RetryPolicy()) as client,
        aclosing(client.events.follow("1-0")) as followed,  # type: ignore[type-var]
    ):
        async for event in followed:
            found.append((event.id, event.data))
            if len(found) == 2:
                break
    assert found == [
        ("1-1", DocumentChange(document_id=UUID(ONE), state="indexed")),
        ("1-3", DocumentChange(document_id=UUID(ONE), state="graphed")),
    ]
    sent = [call.headers.get("last-event-id") for call in server.calls("GET", "/v1/events")]
    assert sent == ["1-0", "1-2"]


def test_events_are_printed_until_the_server_refuses(settled: Any, attractor: Any, events: Any, problem: Any) -> None:
    ended = problem(401, "session-ended", "Sign in again")
    settled.on("GET", "/v1/events", events(("document", DOCUMENT)), ended)
    ran = attractor("events", "--json")
    assert ran.lines == [{"event": "document", **DOCUMENT}]
    settled.on("GET", "/v1/events", events(("document", DOCUMENT)), ended)
    assert attractor("events").out == f"document document_id={ONE} state=indexed\n"


@pytest.mark.parametrize(
    ("options", "body"),
    [
        (("--title", "Handbook"), {"title": "Handbook"}),
        (("--tag", "a", "--tag", "b"), {"tags": ["a", "b"]}),
        (("--no-tags",), {"tags": []}),
    ],
)
def test_a_document_gets_a_title_and_tags(
    settled: Any, attractor: Any, samples: Any, options: tuple[str, ...], body: dict[str, Any]
) -> None:
    settled.on("PATCH", f"/v1/documents/{ONE}", samples.detail(title="Handbook"))
    ran = attractor("documents", "change", ONE, *options)
    assert ran.code == 0, ran.err
    assert "Handbook" in ran.out
    assert jsonlib.loads(settled.calls("PATCH", f"/v1/documents/{ONE}")[-1].body) == body
    assert attractor("documents", "change", ONE).code == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"reason": "found", "rank": 3}, "It is found, on rank 3."),
        ({"reason": "below"}, "others rank higher: it is beyond the first 100 hits"),
        ({"reason": "filtered", "filters": ["tags"]}, "It is excluded by tags."),
        ({"reason": "unmatched"}, "Nothing in it matches this query."),
        ({"reason": "not_indexed"}, "It is not indexed."),
    ],
)
def test_a_search_says_why_it_does_not_find_a_document(
    settled: Any, attractor: Any, samples: Any, answer: dict[str, Any], sentence: str
) -> None:
    settled.on("POST", "/v1/search/why", {"document_id": ONE, "legs": [], "hit": samples.hit(), **answer})
    ran = attractor("search", "tokens", "--tag", "law", "--why", ONE)
    assert sentence in ran.out, ran.err
    assert "A passage." in ran.out
    sent = jsonlib.loads(settled.calls("POST", "/v1/search/why")[-1].body)
    assert (sent["query"], sent["document_id"], sent["tags"]) == ("tokens", ONE, ["law"])
    assert attractor("search", "tokens", "--why", ONE, "--json").json["reason"] == answer["reason"]


def test_the_passages_that_mention_an_entity_are_shown(settled: Any, attractor: Any) -> None:
    entity = {"id": "e1", "name": "AuthService", "entity_type": "SERVICE", "mentions": 7, "documents": 3}
    entity |= {"aliases": [], "how": "exact", "similarity": 1.0}
    facts = {"entity": entity, "alternatives": [], "relations": [], "neighbours": [], "chunks": []}
    none = {"error": None, "suggestions": [], "documents_pending": 0}
    settled.on(
        "POST", "/v1/graph/tools/lookup_facts", {"tool_name": "lookup_facts", "success": True, "result": facts, **none}
    )
    passage = {"chunk_id": "c1", "document_id": ONE, "document_name": "auth.md", "section": "Tokens", "page": 2}
    passage |= {"text": "The AuthService issues tokens.", "spans": [{"start": 4, "end": 15}]}
    settled.on("GET", "/v1/graph/entities/e1/passages", {"items": [passage], "next_cursor": None})
    ran = attractor("graph", "passages", "AuthService")
    assert ran.out == "auth.md, Tokens, page 2\nThe AuthService issues tokens.\n\n"
    assert attractor("graph", "passages", "AuthService", "--json").json == [passage]
