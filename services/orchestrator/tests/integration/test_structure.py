"""Questions about structure are answered by the graph where it can, with its sources cited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from contracts.gateway import Role

DOCUMENT = UUID("00000000-0000-4000-8000-00000000000e")
CONTENT = "Shop calls Billing. Foo is fine. Desk asks Billing for the sum."
QUESTION = "How many services depend on Billing?"
ENTITY = {"id": "a" * 32, "name": "Billing", "entity_type": "SERVICE", "mentions": 3, "documents": 1, "aliases": []}


def source(number: int, quote: str) -> dict[str, Any]:
    start = CONTENT.index(quote)
    place = {"chunk_id": "c1", "document_id": str(DOCUMENT), "document_name": "services.md", "content": CONTENT}
    return place | {"number": number, "start": start, "end": start + len(quote), "confidence": 0.9}


@pytest.fixture
def structure(world: Any) -> None:
    world.structure = {
        "entity": {**ENTITY, "how": "exact", "similarity": 1.0},
        "asked": "dependents",
        "language": "en",
        "entity_types": ["SERVICE"],
        "transitive": False,
        "text": "2 services depend directly on Billing: Desk [1], Shop [2].",
        # The third is of a row that the text does not name, as of a planned one of another kind.
        "sources": [
            source(1, "Desk asks Billing for the sum."),
            source(2, "Shop calls Billing."),
            source(3, "Foo is fine."),
        ],
    }


@pytest.mark.usefixtures("structure")
async def test_the_graph_answers_without_a_model(
    start: Any, settings: Any, world: Any, token_keys: Any, principal: Any
) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session(), QUESTION)
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["answer"]["content"] == world.structure["text"]
    assert (ended["mode"], ended["issues"], ended["answer"]["removed_citations"]) == ("extractive", [], 0)
    quotes = {one["number"]: (one["quote"], one["document_name"]) for one in ended["answer"]["citations"]}
    assert quotes == {
        1: ("Desk asks Billing for the sum.", "services.md"),
        2: ("Shop calls Billing.", "services.md"),
    }
    output = next(event for event in events if event.name == "stage_output").data["output"]
    assert [one["document_name"] for one in output["sources"]] == ["services.md", "auth.md", "billing.md"]
    body, authorization = world.structural[0]
    assert body == {"question": QUESTION}
    told = token_keys.tokens("knowledge-graph").verify(authorization.removeprefix("Bearer "))
    assert told == replace(principal, role=Role.viewer)


@pytest.mark.usefixtures("structure")
@pytest.mark.parametrize(
    ("pending", "told"),
    [
        (3, "3 documents are still being read into the graph; this answer may change"),
        (1, "1 document is still being read into the graph; this answer may change"),
        (None, "it is not known whether the graph has all documents: ingestion did not answer"),
    ],
)
async def test_an_answer_says_that_the_graph_is_incomplete(
    start: Any, settings: Any, world: Any, pending: int | None, told: str
) -> None:
    world.documents_pending = pending
    async with start(settings) as service:
        run = await service.ask(await service.session(), QUESTION)
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["answer"]["content"] == world.structure["text"]
    assert ended["issues"] == [told]
    assert [event.data["message"] for event in events if event.name == "issue"] == [told]


@pytest.mark.parametrize(
    ("pending", "told"),
    [(3, ["3 documents are still being read into the graph; this answer may change"]), (0, []), (None, [])],
)
async def test_an_answer_of_the_search_to_a_structural_question_says_that_the_graph_is_incomplete(
    start: Any, settings: Any, world: Any, pending: int | None, told: list[str]
) -> None:
    world.documents_pending = pending
    async with start(settings) as service:
        run = await service.ask(await service.session(), QUESTION)
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["issues"] == told


@pytest.mark.usefixtures("structure")
async def test_passages_cited_by_the_graph_come_first_in_the_prompt(
    start: Any, model_settings: Any, world: Any
) -> None:
    async with start(model_settings) as service:
        run = await service.ask(await service.session(), QUESTION)
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["mode"] == "model"
    assert '<passage number="1" document="services.md"' in world.chats[0]["messages"][0]["content"]


@pytest.mark.usefixtures("structure")
async def test_an_answer_limited_to_documents_does_not_query_the_graph(start: Any, settings: Any, world: Any) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session(), QUESTION, document_ids=[str(DOCUMENT)])
        await service.events(run["id"])
    assert world.structural == []


async def test_questions_the_graph_cannot_answer_are_answered_by_the_search(
    start: Any, settings: Any, world: Any
) -> None:
    world.graph_status = 503
    async with start(settings) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert "“Tokens expire after fifteen minutes.”" in ended["answer"]["content"]
    assert ended["issues"] == ["knowledge-graph answered with status 503"]
