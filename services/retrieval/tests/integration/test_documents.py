"""Documents of events become search results, and leave an empty index."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import DocumentFailed, DocumentIndexed, DocumentPurged

TEXTS = [
    "The AuthService signs access tokens with RS256. Tokens expire after fifteen minutes.",
    "The BillingRouter sends invoices on the first day of each month.",
    "Lunch is served in the canteen between noon and two o'clock.",
]


async def test_an_indexed_document_is_found_lexically_and_semantically(ingestion, search, converted):
    document = await ingestion.embedded(converted(TEXTS, title="Service guide", heading_path=["Service guide"]))
    await ingestion.convert(document)
    (indexed,) = await ingestion.wait_for(DocumentIndexed, 1)
    assert (indexed.document_id, indexed.chunk_count) == (document.data.document_id, 3)

    by_name = await search("authservice", explain=True)
    assert by_name["hits"][0]["content"] == TEXTS[0]
    assert by_name["hits"][0]["explanation"]["matched_terms"] == ["authservic"]
    assert by_name["hits"][0]["explanation"]["legs"]["lexical"]["rank"] == 1
    assert by_name["good_match"] is True

    by_meaning = await search("when can I eat?", mode="dense")
    assert by_meaning["hits"][0]["content"] == TEXTS[2]
    assert by_meaning["legs"][0]["method"].startswith("exact: 3 chunks")

    for mode in ("hybrid", "rrf", "lexical", "dense"):
        found = await search("How long until a token expires?", mode=mode, highlight=True, k=1)
        (hit,) = found["hits"]
        assert hit["content"] == TEXTS[0]
        best = hit["highlights"][0]
        assert hit["content"][best["start"] : best["end"]] == "Tokens expire after fifteen minutes." or mode != "hybrid"

    nothing = await search("football world cup winners in Brazil")
    assert nothing["good_match"] is False


async def test_queries_are_compared_with_vectors_made_in_float32(ingestion, search, converted, embedder):
    document = await ingestion.embedded(converted(TEXTS))
    await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 1)
    for query in ("when can I eat?", "signing keys", "Wann kommt die Rechnung?"):
        cosines = document.vectors @ (await embedder.embed([query]))[0]
        hits = (await search(query, mode="dense", explain=True))["hits"]
        assert [hit["content"] for hit in hits] == [TEXTS[at] for at in (-cosines).argsort()]
        found = [hit["explanation"]["legs"]["dense"]["score"] for hit in hits]
        assert found == pytest.approx(sorted(cosines, reverse=True), abs=0.002)


async def test_filters_limit_both_legs(ingestion, search, converted):
    prose = await ingestion.embedded(converted(TEXTS))
    code = await ingestion.embedded(converted(["class AuthService: pass"], media_type="text/x-python"))
    for document in (prose, code):
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 2)
    for mode in ("hybrid", "rrf", "lexical", "dense"):
        only = await search("AuthService", mode=mode, document_ids=[str(code.data.document_id)])
        assert {hit["document_id"] for hit in only["hits"]} == {str(code.data.document_id)}
        typed = await search("AuthService", mode=mode, media_types=["text/x-python"])
        assert {hit["media_type"] for hit in typed["hits"]} == {"text/x-python"}
        assert (await search("AuthService", mode=mode, document_ids=[]))["hits"] == []
        assert (await search("AuthService", mode=mode, document_ids=[str(uuid4())] * 10_000))["hits"] == []


async def test_workspaces_see_only_their_own_documents(ingestion, search, converted, workspace_id):
    other = uuid4()
    mine, theirs = await ingestion.embedded(converted(TEXTS[:1])), await ingestion.embedded(converted(TEXTS[1:2]))
    await ingestion.convert(mine)
    await ingestion.convert(theirs, workspace=other)
    await ingestion.wait_for(DocumentIndexed, 2)
    guessed = [str(mine.data.document_id), str(theirs.data.document_id)]
    for mode in ("hybrid", "rrf", "lexical", "dense"):
        for query in TEXTS[:2]:
            for place, document in ((workspace_id, mine), (other, theirs)):
                found = await search(query, place, mode=mode, document_ids=guessed)
                assert {hit["document_id"] for hit in found["hits"]} <= {str(document.data.document_id)}


async def test_a_deleted_document_is_gone_and_has_a_receipt(ingestion, search, converted):
    document = await ingestion.embedded(converted(TEXTS))
    await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 1)
    await ingestion.delete(document)
    (purged,) = await ingestion.wait_for(DocumentPurged, 1)
    assert purged.service == "retrieval"
    assert purged.removed["documents"] == 1
    assert purged.removed["chunks"] == purged.removed["vectors"] == 3
    assert purged.removed["postings"] > 20
    assert purged.remaining == {
        "documents": 0,
        "chunks": 0,
        "postings": 0,
        "vectors": 0,
        "cached_searches": 0,
    }
    for mode in ("hybrid", "rrf", "lexical", "dense"):
        assert (await search("AuthService", mode=mode))["hits"] == []

    await ingestion.convert(converted(TEXTS, document_id=document.data.document_id, version=2))
    await ingestion.drained()
    assert (await search("AuthService"))["hits"] == []
    assert len(await ingestion.answers(DocumentIndexed)) == 1


async def test_of_documents_that_arrive_together_only_the_unreadable_one_fails(
    ingestion, search, converted, database, workspace_id
):
    documents = [await ingestion.embedded(converted([text])) for text in TEXTS]
    lost = await ingestion.embedded(converted(["This text was lost."]))
    for document in documents:
        await ingestion.store(document)
    await ingestion.send_all([documents[0].data, lost.data, *(one.data for one in documents[1:])])
    indexed = await ingestion.wait_for(DocumentIndexed, 3)
    (failed,) = await ingestion.answers(DocumentFailed)
    assert [one.document_id for one in indexed] == [one.data.document_id for one in documents]
    assert [(one.chunk_count, one.vectors) for one in indexed] == [(1, 1)] * 3
    assert (failed.document_id, failed.error_class) == (lost.data.document_id, "ObjectMissing")
    for text in TEXTS:
        assert (await search(text))["hits"][0]["content"] == text
    async with database.workspace(workspace_id) as connection:
        written = await (await connection.execute("SELECT count(DISTINCT xmin::text) FROM indexed_document")).fetchone()
    assert written == (1,), "they are written in one transaction"


async def test_a_deletion_that_arrives_before_its_document_wins(ingestion, search, converted):
    document = await ingestion.embedded(converted(TEXTS))
    await ingestion.delete(document)
    await ingestion.convert(document)
    (purged,) = await ingestion.wait_for(DocumentPurged, 1)
    assert purged.removed["documents"] == 0
    assert await ingestion.answers(DocumentIndexed) == []
    assert (await search("AuthService"))["hits"] == []


async def test_each_of_many_deleted_documents_has_a_receipt(ingestion, search, converted):
    documents = [await ingestion.embedded(converted([f"{text} {at}" for text in TEXTS])) for at in range(5)]
    for document in documents:
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 5)
    gone = [*documents[:4], documents[0], converted(TEXTS)]
    for document in gone:
        await ingestion.delete(document)
    purged = await ingestion.wait_for(DocumentPurged, 6)
    assert [one.document_id for one in purged] == [document.data.document_id for document in gone]
    counted = ("documents", "chunks", "vectors")
    assert [tuple(one.removed[name] for name in counted) for one in purged] == [(1, 3, 3)] * 4 + [(0, 0, 0)] * 2
    assert not any(count for one in purged for count in one.remaining.values())
    left = {hit["document_id"] for hit in (await search("AuthService invoices", fold_duplicates=False))["hits"]}
    assert left == {str(documents[4].data.document_id)}


async def test_a_redelivered_event_is_applied_once(ingestion, converted):
    document = converted(TEXTS)
    event_id = await ingestion.convert(document)
    await ingestion.send(document.data, event_id=event_id)
    await ingestion.wait_for(DocumentIndexed, 1)
    assert len(await ingestion.answers(DocumentIndexed)) == 1


async def test_a_newer_version_replaces_an_older_one_and_not_the_reverse(ingestion, search, converted):
    first = await ingestion.embedded(converted(["The port is 8080."], version=1))
    document_id = first.data.document_id
    third = await ingestion.embedded(converted(["The port is 9090."], version=3, document_id=document_id))
    second = await ingestion.embedded(converted(["The port is 7070."], version=2, document_id=document_id))
    for document in (first, third, second):
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 2)
    assert [one.version for one in await ingestion.answers(DocumentIndexed)] == [1, 3]
    assert [hit["content"] for hit in (await search("port"))["hits"]] == ["The port is 9090."]
    assert (await search("8080", mode="lexical"))["hits"] == []


async def test_content_that_cannot_be_indexed_fails_its_stage_with_a_reason(ingestion, converted):
    missing, short = converted(TEXTS), converted(TEXTS)
    await ingestion.send(missing.data)
    short.chunks.pop()
    await ingestion.convert(short)
    failed = {one.document_id: one for one in await ingestion.wait_for(DocumentFailed, 2)}
    assert failed[missing.data.document_id].error_class == "ObjectMissing"
    reason = failed[short.data.document_id]
    assert (reason.service, reason.stage, reason.error_class) == ("retrieval", "index", "ConvertedInvalid")
    assert reason.error_message == "there are 2 chunks where 3 were announced"
