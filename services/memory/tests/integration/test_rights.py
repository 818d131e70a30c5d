"""Forgetting leaves nothing behind, export is complete, retention deletes what is old: each only for its user."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from redis.asyncio import Redis
from waiting import eventually

from contracts.events import TURNS, SessionDeleted
from contracts.gateway import Role
from memory.rights.retention import Retention
from service_kit.postgres import Database
from service_kit.streams import dead_letters

MAY = datetime(2026, 5, 5, 12, tzinfo=UTC)
ANSWER = "You live in Walrustown. You said: I moved to Walrustown."


@pytest.fixture
def dump(app, workspace_id):
    """Returns every row of every table of the service as text."""

    async def read() -> str:
        found = []
        async with await psycopg.AsyncConnection.connect(app.state.database_url) as connection:
            await connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            cursor = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'memory'")
            for (table,) in await cursor.fetchall():
                if table == "migration":
                    continue
                rows = sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier("memory", table))
                found += [row for (row,) in await (await connection.execute(rows)).fetchall()]
        return "\n".join(found)

    return read


@pytest.fixture
def forget(client, auth_headers):
    async def ask(who=None, **body):
        response = await client.post("/v1/memories/forget", json=body, headers=auth_headers(**(who or {})))
        assert response.status_code == 200, response.text
        return response.json()

    return ask


@pytest.fixture
def contents(client, auth_headers):
    async def read(**who):
        items = (await client.get("/v1/memories", headers=auth_headers(**who))).json()["items"]
        return {one["content"] for one in items}

    return read


@pytest.fixture
async def told(client, streams, principal, auth_headers):
    """Creates turns, a note and a world that mention Walrustown; returns one of the turns, to be delivered again."""
    again = {"question_id": uuid4(), "answer_id": uuid4(), "session_id": uuid4(), "run_id": uuid4()}
    await streams.turn(principal.user_id, "I moved to Walrustown.", [uuid4()], asked_at=MAY, **again)
    await streams.turn(principal.user_id, "Thanks!", [], asked_at=MAY, session_id=again["session_id"])
    await streams.turn(principal.user_id, "Where do I live?", [], answer=ANSWER)
    await streams.turn(principal.user_id, "I like tea.", [])
    await client.post("/v1/memories", json={"content": "The walrustown office opens."}, headers=auth_headers())
    for operation in (
        {"op": "add", "path": "/goals", "value": "open Walrustown"},
        {"op": "add", "path": "/goals", "value": "hire"},
        {"op": "set", "path": "/project/name", "value": "Walrustown"},
        {"op": "set", "path": "/extra/Walrustown", "value": {"a": 1}},
        {"op": "remove", "path": "/goals", "value": "open Walrustown"},
    ):
        changed = await client.post("/v1/world/operations", json={"operations": [operation]}, headers=auth_headers())
        assert changed.status_code == 200, changed.text
    await streams.drained(TURNS)
    return again


async def test_forgotten_content_is_removed_from_every_table_and_does_not_return(
    client, streams, principal, auth_headers, told, dump, forget, contents
):
    assert "walrus" in (await dump()).lower()
    shown = await forget(about="Walrustown", preview=True)
    assert {one["content"] for one in shown["memories"]} >= {"I moved to Walrustown.", ANSWER}
    assert {one["why"] for one in shown["memories"]} == {"mentions"}
    assert shown["transcripts"]["messages"] == 2
    assert str(told["session_id"]) in shown["transcripts"]["sessions"]
    assert "walrus" in (await dump()).lower()
    receipt = await forget(about="walrustown")
    assert receipt["removed"] == shown["removed"]
    assert receipt["removed"]["fact"] == receipt["removed"]["fact_source"] == 1
    assert (receipt["removed"]["memory"], receipt["removed"]["episode"]) == (4, 2)
    assert receipt["removed"]["world"] == 2  # the workspace's, and the session's with its topics
    assert receipt["removed"]["event"] == 2  # turns on the stream
    assert not any(receipt["remaining"].values())
    assert "walrus" not in (await dump()).lower()

    await streams.turn(principal.user_id, "I moved to Walrustown.", [], asked_at=MAY, **told)
    await streams.drained(TURNS)
    assert "walrus" not in (await dump()).lower()
    assert {"I like tea.", "Thanks!"} <= await contents()
    body = {"query": "Where do I live? Walrustown?", "k": 20}
    found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()
    assert found["answer"] is None
    assert "walrus" not in json.dumps(found["memories"]).lower()


@pytest.mark.usefixtures("told")
async def test_the_world_state_keeps_everything_else_and_its_versions(client, auth_headers, forget):
    before = (await client.get("/v1/world", headers=auth_headers())).json()
    await forget(about="Walrustown")
    after = (await client.get("/v1/world", headers=auth_headers())).json()
    assert after["version"] == before["version"] + 1
    assert (after["document"]["goals"], after["document"]["extra"]) == (["hire"], {})
    assert after["document"]["project"]["name"] is None
    for version in range(1, after["version"] + 1):
        old = await client.get(f"/v1/world?version={version}", headers=auth_headers())
        assert old.status_code == 200
        assert "walrus" not in old.text.lower()
    history = (await client.get("/v1/world/history", headers=auth_headers())).json()["items"]
    assert history[0]["kind"] == "forgotten"


@pytest.mark.usefixtures("told")
async def test_items_that_the_role_may_not_delete_are_counted_as_remaining(forget):
    receipt = await forget(who={"role": Role.viewer}, about="Walrustown")
    assert receipt["removed"]["memory"] == 4
    assert receipt["remaining"]["world"] == 1


@pytest.mark.usefixtures("told")
async def test_users_cannot_forget_or_export_the_memories_of_others(client, auth_headers, forget, contents, told):
    stranger = {"user_id": uuid4(), "role": Role.viewer}
    mine = (await client.get("/v1/memories", headers=auth_headers())).json()["items"]
    for asked in (
        {"about": "Walrustown"},
        {"query": "Where do I live?"},
        {"session_id": str(told["session_id"])},
        {"ids": [one["id"] for one in mine]},
    ):
        receipt = await forget(who=stranger, **asked)
        assert receipt["removed"]["memory"] == 0
    assert "I moved to Walrustown." in await contents()
    exported = await client.get("/v1/memories/export", headers=auth_headers(**stranger))
    assert (exported.status_code, exported.text) == (200, "")
    pinned = await client.patch(
        f"/v1/memories/{mine[0]['id']}", json={"pinned": True}, headers=auth_headers(user_id=uuid4())
    )
    assert pinned.status_code == 404


@pytest.mark.usefixtures("told")
async def test_forgetting_by_query_or_ids_deletes_the_source_messages_too(client, auth_headers, forget, contents):
    shown = await forget(query="Where do I live?", preview=True)
    why = {one["content"]: one["why"] for one in shown["memories"] if one["kind"] == "episode"}
    assert why == {"I moved to Walrustown.": "along", "Where do I live?": "words", ANSWER: "words"}
    assert [one["why"] for one in shown["memories"] if one["kind"] == "fact"] == ["answers"]
    await forget(query="Where do I live?")
    left = await contents()
    assert not {"I moved to Walrustown.", ANSWER} & left
    assert "I like tea." in left
    items = (await client.get("/v1/memories?kind=preference", headers=auth_headers())).json()["items"]
    receipt = await forget(ids=[items[0]["id"]])
    assert receipt["removed"]["memory"] == 2  # the fact, and the message that states it
    assert "I like tea." not in await contents()


async def test_memories_that_only_partly_match_the_query_are_kept(client, auth_headers, forget, contents):
    kept = "Boris moved the billing database to Frankfurt in June."
    for note in (kept, "Anna moved the billing database to Paris in May.", "Anna likes the invoices."):
        await client.post("/v1/memories", json={"content": note}, headers=auth_headers())
    shown = await forget(query="Where did Anna move the billing database?", preview=True)
    assert [one["words"] for one in shown["memories"]] == [["Anna", "move", "billing", "database"]]
    await forget(query="Where did Anna move the billing database?")
    assert await contents() == {kept, "Anna likes the invoices."}
    assert (await forget(query="Who wrote the novel about the whale?"))["removed"]["memory"] == 0
    assert await contents() == {kept, "Anna likes the invoices."}


async def test_a_name_is_forgotten_in_whatever_form_its_letters_are_stored(client, auth_headers, forget, contents):
    for note in ("Frau Mu\u0308ller called.", "Herr GROSSMANN pays.", "Frau Mull pays."):
        await client.post("/v1/memories", json={"content": note}, headers=auth_headers())
    for about in ("M\u00fcller", "Gro\u00dfmann"):
        assert (await forget(about=about))["removed"]["memory"] == 1
    assert await contents() == {"Frau Mull pays."}


async def test_forgetting_a_session_removes_the_facts_only_it_states(streams, principal, told, forget, contents):
    await streams.turn(principal.user_id, "I like tea.", [], session_id=told["session_id"])
    await streams.drained(TURNS)
    await forget(session_id=str(told["session_id"]))
    left = await contents()
    assert not {"I moved to Walrustown.", "Thanks!"} & left
    assert "I like tea." in left  # another session says so, too


async def test_the_message_after_a_forgotten_one_is_embedded_without_it(app, workspace_id, told, forget):
    async def vector() -> str | None:
        async with await psycopg.AsyncConnection.connect(app.state.database_url, autocommit=True) as connection:
            await connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            read = "SELECT embedding::text FROM memory.memory WHERE id = %s"
            return (await (await connection.execute(read, (told["answer_id"],))).fetchone() or (None,))[0]

    # "It is so." comes right after the statement, and cites a document.
    before = await eventually(vector, bool)
    await forget(about="Walrustown")
    assert await eventually(vector, lambda found: found not in (None, before))


@pytest.fixture
def turns(redis):
    """Returns the turns on the stream and among its dead letters, as text."""

    async def read() -> str:
        entries = [*await redis.xrange(TURNS), *await redis.xrange(dead_letters(TURNS))]
        return "\n".join(fields["event"] for _, fields in entries)

    return read


@pytest.mark.usefixtures("told")
async def test_a_forgotten_turn_is_deleted_from_the_stream_and_its_dead_letters(
    redis, streams, principal, turns, forget
):
    [entry, *_] = [fields for _, fields in await redis.xrange(TURNS) if "I moved to Walrustown" in fields["event"]]
    await redis.xadd(dead_letters(TURNS), entry | {"group": "memory", "reason": "a test"})
    await streams.turn(principal.user_id, "Walrustown is mine.", [], workspace_id=uuid4())
    await streams.drained(TURNS)
    assert (await turns()).count("I moved to Walrustown.") > 2
    await forget(about="Walrustown", preview=True)
    assert (await turns()).count("I moved to Walrustown.") > 2
    await forget(about="Walrustown")
    left = await turns()
    assert "I moved to Walrustown." not in left
    assert "Walrustown is mine." in left  # another workspace's
    assert "I like tea." in left
    assert "Thanks!" in left
    await streams.drained(TURNS)  # the group is not disturbed


@pytest.mark.parametrize("by", ["memory", "session"])
async def test_a_turn_goes_from_the_stream_with_its_memory_or_session(
    client, streams, auth_headers, told, turns, contents, by
):
    assert "I moved to Walrustown." in await turns()
    if by == "session":
        await streams.send(SessionDeleted(session_id=told["session_id"]))
        await streams.drained(TURNS)
    else:
        await client.delete(f"/v1/memories/{told['question_id']}", headers=auth_headers())
    assert "I moved to Walrustown." not in await contents()
    assert '"I moved to Walrustown."' not in await turns()
    assert "I like tea." in await turns()


async def test_without_redis_the_receipt_says_how_many_turns_may_be_left(app, told, forget, contents):
    app.state.turn_events.redis = Redis.from_url("redis://127.0.0.1:1")
    receipt = await forget(ids=[str(told["question_id"])])
    assert receipt["remaining"]["event"] == receipt["removed"]["memory"] > 0
    assert "I moved to Walrustown." not in await contents()


async def test_a_deleted_session_is_not_derived_again(streams, principal, told, contents):
    await streams.send(SessionDeleted(session_id=told["session_id"]))
    await streams.drained(TURNS)
    await streams.turn(principal.user_id, "I moved to Walrustown.", [], asked_at=MAY, **told)
    await streams.drained(TURNS)
    assert "I moved to Walrustown." not in await contents()


@pytest.mark.usefixtures("told")
async def test_an_export_contains_all_memories_with_sources_and_the_world_history(client, auth_headers, contents):
    response = await client.get("/v1/memories/export", headers=auth_headers())
    lines = [json.loads(line) for line in response.text.splitlines()]
    memories = [line["memory"] for line in lines if "memory" in line]
    assert {one["content"] for one in memories} == await contents()
    assert any(one["fact"]["object"] == "Walrustown" for one in memories if one.get("fact"))
    assert any("open Walrustown" in json.dumps(line["event"]) for line in lines if "event" in line)


@pytest.mark.usefixtures("told")
async def test_expired_memories_are_deleted_unless_pinned(app, client, workspace_id, auth_headers, contents):
    settings = {"writing": "on", "retention_days": 30}
    assert (await client.put("/v1/memories/settings", json=settings, headers=auth_headers())).json() == settings
    items = (await client.get("/v1/memories", headers=auth_headers())).json()["items"]
    [fact] = [one for one in items if one["kind"] == "preference"]
    changed = await client.patch(f"/v1/memories/{fact['id']}", json={"pinned": True}, headers=auth_headers())
    assert changed.json()["pinned"]
    async with Database(app.state.database_url, 1).opened() as database:
        assert await Retention(database, app.state.turn_events).apply() == 0
        async with database.workspace(workspace_id) as connection:
            await connection.execute("UPDATE memory.memory SET created_at = now() - interval '31 days'")
        assert await Retention(database, app.state.turn_events).apply() > 0
    assert await contents() == {"I like tea."}


@pytest.mark.parametrize(
    "body", [{}, {"about": "x"}, {"about": "Walrus", "query": "x"}, {"ids": []}, {"query": ""}, {"about": "x" * 201}]
)
async def test_exactly_one_selector_must_be_given(client, auth_headers, body):
    assert (await client.post("/v1/memories/forget", json=body, headers=auth_headers())).status_code == 422


async def test_an_empty_edit_is_refused(client, auth_headers):
    note = (await client.post("/v1/memories", json={"content": "A note."}, headers=auth_headers())).json()
    assert (await client.patch(f"/v1/memories/{note['id']}", json={}, headers=auth_headers())).status_code == 422
