"""Episodes from turns, and what is deleted with a document."""

from __future__ import annotations

import json
from importlib.metadata import version
from uuid import uuid4

import pytest
from sent_events import send_events
from waiting import eventually

from contracts.events import (
    DOCUMENTS,
    TURNS,
    DocumentDeleted,
    SessionDeleted,
    TurnCompletedV1,
    WorkspaceDeleted,
)
from service_kit.migrate import migrations, short_name
from service_kit.streams import dead_letters

DOCUMENT = uuid4()


@pytest.fixture
async def memories(client, auth_headers):
    async def read(**who):
        """Returns messages other than answers, and notes."""
        found = (await client.get("/v1/memories", headers=auth_headers(**who))).json()["items"]
        return [one for one in found if not one["said"] or one["said"]["role"] == "user"]

    return read


@pytest.fixture
async def answers(client, auth_headers):
    async def read(**who):
        found = (await client.get("/v1/memories", headers=auth_headers(**who))).json()["items"]
        return [one for one in found if one["said"] and one["said"]["role"] == "assistant"]

    return read


async def test_a_turn_is_remembered_once_for_its_user(streams, memories, answers, principal):
    document, same = uuid4(), {"question_id": uuid4(), "answer_id": uuid4(), "session_id": uuid4()}
    event = await streams.turn(principal.user_id, "Who owns billing?", [document], answer="Heron.", **same)
    await streams.turn(principal.user_id, "Who owns billing?", [document], event_id=event, **same)
    await streams.turn(principal.user_id, "Who owns billing?", [document], **same)
    await streams.drained(TURNS)
    [question], [answer] = await memories(), await answers()
    assert [one["content"] for one in (question, answer)] == ["Who owns billing?", "Heron."]
    assert [one["said"]["role"] for one in (question, answer)] == ["user", "assistant"]
    assert [one["said"]["position"] for one in (question, answer)] == [0, 1]
    assert (answer["kind"], answer["document_ids"]) == ("episode", [str(document)])
    assert question["document_ids"] == []
    assert await memories(user_id=uuid4()) == []
    assert await memories(workspace_id=uuid4()) == []


async def test_a_turn_reported_before_an_upgrade_is_remembered_once(streams, memories, answers, principal):
    told = {"session_id": uuid4(), "run_id": uuid4(), "user_id": principal.user_id, "document_ids": []}
    for _ in range(2):
        await streams.send(TurnCompletedV1(**told, question="Who owns billing?", answer="Heron."))
    await streams.drained(TURNS)
    [question], [answer] = await memories(), await answers()
    assert [one["content"] for one in (question, answer)] == ["Who owns billing?", "Heron."]


async def test_an_answer_is_deleted_with_its_last_source(client, streams, memories, answers, principal, auth_headers):
    first, second = uuid4(), uuid4()
    await client.post("/v1/memories", json={"content": "my own note"}, headers=auth_headers())
    await streams.turn(principal.user_id, "a", [first, second], answer="both")
    await streams.turn(principal.user_id, "b", [first], answer="only the first")
    await streams.turn(principal.user_id, "c", [], answer="no source")
    await streams.drained(TURNS)

    purged = await streams.delete(first)
    assert purged.service == "memory"
    assert purged.removed == {"memories": 1, "memory_sources": 2}
    assert purged.remaining == {"memory_sources": 0}
    left = {one["content"]: one["document_ids"] for one in await answers()}
    assert left == {"both": [str(second)], "no source": []}

    assert (await streams.delete(second)).removed == {"memories": 1, "memory_sources": 1}
    assert {one["content"] for one in await answers()} == {"no source"}
    assert {one["content"] for one in await memories()} == {"my own note", "a", "b", "c"}


async def test_receipts_of_documents_deleted_together_count_each_memory_once(streams, answers, principal, redis):
    documents = [uuid4() for _ in range(3)]
    await streams.turn(principal.user_id, "a", documents[:2], answer="from two")
    await streams.turn(principal.user_id, "b", [documents[0], documents[2]], answer="from one that stays")
    await streams.drained(TURNS)
    deleted = [DocumentDeleted(document_id=document) for document in documents[:2]]
    await send_events(redis, deleted, principal.workspace_id)
    receipts = await eventually(streams.purged, lambda found: len(found) == 2)
    assert {one.document_id for one in receipts} == set(documents[:2])
    assert sum(one.removed["memories"] for one in receipts) == 1
    assert [one.removed["memory_sources"] for one in receipts] == [2, 1]
    assert all(one.remaining == {"memory_sources": 0} for one in receipts)
    assert {one["content"]: one["document_ids"] for one in await answers()} == {
        "from one that stays": [str(documents[2])]
    }


async def test_a_late_turn_does_not_restore_a_deleted_document(streams, answers, principal):
    gone, alive = uuid4(), uuid4()
    assert (await streams.delete(gone)).removed == {"memories": 0, "memory_sources": 0}
    await streams.turn(principal.user_id, "late", [gone])
    await streams.turn(principal.user_id, "late, other source", [gone, alive], answer="from the other")
    await streams.drained(TURNS)
    (episode,) = await answers()
    assert episode["content"] == "from the other"
    assert episode["document_ids"] == [str(alive)]


async def test_a_deletion_stays_within_its_workspace_and_is_confirmed_once(streams, answers, principal):
    document = uuid4()
    await streams.turn(principal.user_id, "kept", [document])
    await streams.drained(TURNS)
    await streams.delete(document, workspace_id=uuid4())
    assert len(await answers()) == 1
    event = await streams.send(DocumentDeleted(document_id=document))
    await streams.send(DocumentDeleted(document_id=document), event_id=event)
    await streams.drained(DOCUMENTS)
    assert await answers() == []
    last = uuid4()
    await streams.send(DocumentDeleted(document_id=last))
    # Confirmations are published in order, a moment after the events are acknowledged.
    found = await eventually(streams.purged, lambda found: found and found[-1].document_id == last)
    assert [one.document_id for one in found] == [document, document, last]


async def test_memories_of_a_deleted_session_stay_forgotten(client, streams, memories, principal, auth_headers):
    gone, kept = uuid4(), uuid4()
    await client.post("/v1/memories", json={"content": "my own note"}, headers=auth_headers())
    for question, session in (("one", gone), ("two", gone), ("three", kept)):
        await streams.turn(principal.user_id, question, [], session_id=session)
    await streams.send(SessionDeleted(session_id=gone), workspace_id=uuid4())  # not this workspace's
    await streams.drained(TURNS)
    assert len(await memories()) == 4
    await streams.send(SessionDeleted(session_id=gone))
    await streams.turn(principal.user_id, "late", [], session_id=gone)
    await streams.drained(TURNS)
    assert {one["content"] for one in await memories()} == {"my own note", "three"}


async def test_a_forged_session_deletion_deletes_nothing(streams, memories, principal, owners, redis):
    session = uuid4()
    await streams.turn(principal.user_id, "Who owns billing?", [], session_id=session)
    owners.confirms = False
    await streams.send(SessionDeleted(session_id=session))
    await streams.drained(TURNS)
    assert len(await memories()) == 1
    [(_, letter)] = await redis.xrange(dead_letters(TURNS))
    assert letter["reason"] == "refused: the owner of the fact denies it"
    owners.confirms = True
    await streams.send(SessionDeleted(session_id=session))
    await eventually(memories, lambda found: found == [])


async def test_an_answer_without_content_is_neither_listed_nor_recalled(client, streams, principal, auth_headers):
    empty = "I found nothing relevant to this in the documents."
    session = uuid4()
    await streams.turn(principal.user_id, "Who owns billing?", [], answer=empty, session_id=session)
    await streams.turn(principal.user_id, "Anna owns billing.", [], answer="Noted: I will remember this.")
    await streams.drained(TURNS)
    listed = (await client.get("/v1/memories", headers=auth_headers())).json()["items"]
    assert {one["content"] for one in listed} == {"Who owns billing?", "Anna owns billing."}
    body = {"query": "What is relevant in the documents about billing?", "k": 20, "token_budget": 1000}
    found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    assert empty not in json.dumps(found)
    exported = await client.get("/v1/memories/export", headers=auth_headers())
    assert empty in exported.text  # the ledger has it


async def test_readiness_is_reported(client):
    told = (await client.get("/readyz")).json()
    newest = max(name for name, _ in migrations("memory"))
    assert told == {
        "status": "ready",
        "failures": {},
        "version": version("attractor-memory"),
        "schema_version": short_name(newest),
    }


async def test_a_deleted_workspace_is_forgotten_and_late_turns_do_not_restore_it(client, streams, auth_headers):
    user, other = uuid4(), uuid4()
    mine = auth_headers(user_id=user)
    theirs = auth_headers(user_id=user, workspace_id=other)
    assert (await client.post("/v1/memories", json={"content": "a note"}, headers=mine)).status_code == 201
    assert (await client.post("/v1/memories", json={"content": "another"}, headers=theirs)).status_code == 201
    await streams.turn(user, "What is stored?", [uuid4()])
    await streams.drained(TURNS)
    await streams.send(WorkspaceDeleted())
    [receipt] = await streams.workspaces_purged()
    assert receipt.service == "memory"
    assert (receipt.removed["memory"], receipt.removed["memory_source"]) == (3, 1)
    assert set(receipt.remaining.values()) == {0}

    await streams.turn(user, "Is it back?", [])
    await streams.drained(TURNS)
    assert (await client.get("/v1/memories", headers=mine)).json()["items"] == []
    refused = await client.post("/v1/memories", json={"content": "in flight"}, headers=mine)
    assert (refused.status_code, refused.json()["type"]) == (404, "workspace-deleted")
    assert len((await client.get("/v1/memories", headers=theirs)).json()["items"]) == 1


@pytest.mark.parametrize(
    "data", [WorkspaceDeleted(), DocumentDeleted(document_id=DOCUMENT)], ids=["workspace", "document"]
)
async def test_a_forged_workspace_deletion_deletes_nothing(streams, answers, principal, owners, redis, data):
    """Prevents anyone who can write to the stream from erasing a workspace permanently."""
    await streams.turn(principal.user_id, "Who owns billing?", [DOCUMENT])
    await streams.drained(TURNS)
    owners.confirms = False
    await streams.send(data)
    await streams.drained(DOCUMENTS)
    assert len(await answers()) == 1
    [(_, letter)] = await redis.xrange(dead_letters(DOCUMENTS))
    assert letter["reason"] == "refused: the owner of the fact denies it"

    owners.confirms = True
    await streams.send(data)  # a true deletion is carried out as before
    await eventually(answers, lambda found: found == [])


async def test_a_deletion_waits_for_its_owner_to_confirm(streams, answers, principal, owners, redis):
    await streams.turn(principal.user_id, "Who owns billing?", [DOCUMENT])
    await streams.drained(TURNS)
    owners.is_away = True
    await streams.send(DocumentDeleted(document_id=DOCUMENT))
    await streams.turn(principal.user_id, "And who reads it?", [])

    async def pending() -> int:
        return (await redis.xpending(DOCUMENTS, "memory"))["pending"]

    await eventually(pending, lambda found: found == 1)
    await streams.drained(TURNS)
    assert len(await answers()) == 2
    assert await redis.xlen(dead_letters(DOCUMENTS)) == 0
    owners.is_away = False
    await eventually(streams.purged, bool)  # reclaimed after RetryPolicy.reclaim_after
    assert len(await answers()) == 1
