"""Why a search does not find a document."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from contracts.events import DocumentIndexed

PORT = "The harbour office keeps the ledger of all ships that entered the port."


@pytest.fixture
def why(client, auth_headers):
    """`await why(document, query, ...)`: the answer about a search with these options."""

    async def ask(document_id: UUID, query: str, status: int = 200, **options):
        body = {"query": query, "document_id": str(document_id), "mode": "lexical", **options}
        answer = await client.post("/v1/search/why", json=body, headers=auth_headers())
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


@pytest.fixture
async def indexed(ingestion, converted):
    """`await indexed(texts, ...)`: a document in the index."""
    count = 0

    async def write(texts, **more):
        nonlocal count
        document = await ingestion.embedded(converted(texts, **more))
        await ingestion.convert(document)
        count += 1
        await ingestion.wait_for(DocumentIndexed, count)
        return document.data.document_id

    return write


async def test_a_document_that_is_found_has_its_rank_and_its_score_in_each_leg(why, indexed):
    best = await indexed(["The port keeps a ledger of the port."], name="best.md")
    other = await indexed([f"{PORT} Nothing else is written about them in here or elsewhere."], name="other.md")
    found = await why(best, "port ledger")
    assert (found["reason"], found["rank"], found["hit"]["document_id"]) == ("found", 1, str(best))
    assert found["hit"]["explanation"]["legs"]["lexical"]["rank"] == 1
    below = await why(other, "port ledger", k=1)
    assert (below["reason"], below["rank"], below["hit"]["document_id"]) == ("below", 2, str(other))
    assert below["hit"]["score"] < below["last_score"]


async def test_the_filters_that_exclude_it_are_named(why, indexed):
    document = await indexed([PORT], tags=["harbour"], media_type="text/markdown")
    excluded = await why(document, "ledger", tags=["law"], media_types=["text/markdown"], document_ids=[str(uuid4())])
    assert (excluded["reason"], excluded["filters"]) == ("filtered", ["document_ids", "tags"])
    assert excluded["hit"]["document_id"] == str(document)
    assert (await why(document, "ledger", tags=["harbour"]))["reason"] == "found"


async def test_a_near_duplicate_names_the_hit_that_is_shown_instead(why, indexed):
    first, second = await indexed([PORT], name="a.md"), await indexed([PORT], name="b.md")
    reasons = {(await why(one, "ledger"))["reason"]: one for one in (first, second)}
    assert reasons.keys() == {"found", "duplicate"}
    shown = (await why(reasons["duplicate"], "ledger"))["hit"]
    assert shown["document_id"] == str(reasons["found"])
    assert (await why(reasons["duplicate"], "ledger", fold_duplicates=False))["reason"] == "found"


async def test_what_does_not_match_differs_from_what_is_not_indexed(why, indexed):
    document = await indexed([PORT])
    assert (await why(document, "zebra"))["reason"] == "unmatched"
    assert (await why(uuid4(), "ledger"))["reason"] == "not_indexed"
    await why(document, "ledger", status=422, metadata=["$$$"])
