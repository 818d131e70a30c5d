"""The ledger of what was said is append-only, and only the service's own contracts lead to it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

from contracts.events import TURNS

SAID = ("I live in Munich.", "I moved to Berlin.", "No, I meant Bremen.")
CHANGES = (
    "UPDATE memory.episode SET position = position + 10",
    "UPDATE memory.episode SET speaker = 'Mallory'",
    "UPDATE memory.memory SET content = 'I live in Rome.' WHERE kind = 'episode'",
    "UPDATE memory.memory SET said_at = now() WHERE kind = 'episode'",
    "UPDATE memory.memory SET session_id = NULL, kind = 'note' WHERE kind = 'episode'",
)


@pytest.fixture
async def ledger(app, client, streams, principal, workspace_id):  # noqa: ARG001  the client starts the app
    """Tells three turns in a session; returns what the ledger has, in order."""
    session = uuid4()
    for minute, text in enumerate(SAID):
        asked_at = datetime(2026, 3, 2, 12, minute, tzinfo=UTC)
        await streams.turn(principal.user_id, text, [], session_id=session, asked_at=asked_at, answer=f"To {minute}.")
    await streams.drained(TURNS)

    def read() -> list[tuple]:
        with psycopg.connect(app.state.database_url) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            return connection.execute(
                "SELECT position, speaker, role, content, said_at, memory.id FROM memory.episode"
                " JOIN memory.memory USING (workspace_id, id) ORDER BY position"
            ).fetchall()

    return session, read


async def test_each_message_is_a_row_that_later_ones_only_follow(streams, principal, ledger):
    session, read = ledger
    before = read()
    assert [(one[0], one[3]) for one in before] == [
        (at, text) for at, text in enumerate(one for n, said in enumerate(SAID) for one in (said, f"To {n}."))
    ]
    await streams.turn(principal.user_id, "And now?", [], session_id=session, answer="Nothing new.")
    await streams.drained(TURNS)
    after = read()
    assert after[: len(before)] == before  # a correction changes facts, not what was said
    assert [(one[0], one[3]) for one in after[len(before) :]] == [(6, "And now?"), (7, "Nothing new.")]


async def test_no_route_changes_what_was_said(client, auth_headers, ledger):
    _, read = ledger
    before = read()
    for memory_id in [one[-1] for one in before]:
        path, headers = f"/v1/memories/{memory_id}", auth_headers()
        edited = await client.patch(path, json={"content": "I live in Rome."}, headers=headers)
        assert (edited.status_code, "messages stay as they were said" in edited.text) == (404, True)
        assert (await client.patch(path, json={"pinned": True}, headers=headers)).status_code == 200
        again = {"role": "user", "content": "I live in Rome.", "at": "2026-03-02T12:00:00Z", "id": str(memory_id)}
        body = {"source": "s", "conversations": [{"id": str(ledger[0]), "messages": [again]}]}
        assert (await client.post("/v1/memories/import", json=body, headers=headers)).status_code == 200
    assert [one for one in read() if one[-1] in {row[-1] for row in before}] == before


@pytest.mark.parametrize("change", CHANGES)
async def test_the_database_itself_refuses_to_change_what_was_said(app, workspace_id, ledger, change):
    _, read = ledger
    before = read()
    with psycopg.connect(app.state.database_url) as connection:
        connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
        with pytest.raises(psycopg.errors.RestrictViolation):
            connection.execute(change)
    assert read() == before


async def test_no_other_service_may_read_the_ledger(app, client, make_database, ledger):  # noqa: ARG001
    other = make_database("gateway").service
    role = psycopg.conninfo.conninfo_to_dict(other)["user"]
    with psycopg.connect(app.state.database_url) as connection:
        rights = connection.execute(
            "SELECT grantee, privilege_type FROM information_schema.role_table_grants"
            " WHERE table_schema = 'memory' AND table_name IN ('episode', 'memory')"
        ).fetchall()
        [[own]] = connection.execute("SELECT current_user").fetchall()
    assert {grantee for grantee, _ in rights} <= {own}
    assert role != own
