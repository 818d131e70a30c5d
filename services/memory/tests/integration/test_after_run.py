"""A read of the world state can wait for the end of a run."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from contracts.events import TURNS, TurnDiscarded
from contracts.world import StagedOperations, WorldOperation, WorldOperationKind
from memory.world.settled_runs import SettledRunRows
from service_kit.postgres import Database

GOAL = StagedOperations(
    of_session=False, operations=[WorldOperation(op=WorldOperationKind.add, path="/goals", value="Ship in May")]
)


@pytest.fixture
def read(client, auth_headers):
    async def get(after_run, timeout=120, **who):
        params = {"after_run": str(after_run), "timeout": timeout}
        return await client.get("/v1/world", params=params, headers=auth_headers(**who))

    return get


@pytest.fixture
def looked(monkeypatch):
    """Is set once somebody has looked for a run in vain."""
    event, is_settled = asyncio.Event(), SettledRunRows.is_settled

    async def looking(rows, run_id):
        found = await is_settled(rows, run_id)
        if not found:
            event.set()
        return found

    monkeypatch.setattr(SettledRunRows, "is_settled", looking)
    return event


async def test_a_read_after_a_run_has_what_the_run_changed(read, looked, streams, principal):
    run = uuid4()
    async with asyncio.timeout(120):
        waiting = asyncio.create_task(read(run))
        await looked.wait()
        await streams.turn(principal.user_id, "Add a goal: ship in May", [], run_id=run, world=GOAL)
        response = await waiting
    assert response.status_code == 200, response.text
    assert response.json()["document"]["goals"] == ["Ship in May"]
    assert (await read(run, timeout=0)).json()["document"]["goals"] == ["Ship in May"]


async def test_a_read_after_a_run_that_failed_or_was_cancelled_shows_that_nothing_changed(
    read, looked, streams, principal
):
    run = uuid4()
    async with asyncio.timeout(120):
        waiting = asyncio.create_task(read(run))
        await looked.wait()
        await streams.send(TurnDiscarded(session_id=uuid4(), run_id=run, user_id=principal.user_id))
        response = await waiting
    assert (response.status_code, response.json()["document"]["goals"]) == (200, [])
    # It was tried again, and completed.
    await streams.turn(principal.user_id, "Add a goal: ship in May", [], run_id=run, world=GOAL)
    await streams.drained(TURNS)
    assert (await read(run)).json()["document"]["goals"] == ["Ship in May"]


async def test_a_read_after_a_run_of_which_nothing_is_known_or_of_another_user_says_so(read, streams, principal):
    run = uuid4()
    await streams.turn(uuid4(), "Add a goal: ship in May", [], run_id=run, world=GOAL)
    await streams.drained(TURNS)
    for unknown in (run, uuid4()):
        response = await read(unknown, timeout=0)
        assert (response.status_code, response.json()["type"]) == (409, "run-not-settled")
        assert str(unknown) in response.json()["detail"]
    assert (await read(run, workspace_id=uuid4(), timeout=0)).status_code == 409
    assert principal.user_id


async def test_a_read_after_a_run_of_which_nothing_is_kept_does_not_wait(
    client, read, streams, principal, auth_headers
):
    run, session = uuid4(), uuid4()
    await streams.turn(principal.user_id, "Add a goal: ship in May", [], run_id=run, session_id=session, world=GOAL)
    await streams.drained(TURNS)
    body = {"session_id": str(session)}
    assert (await client.post("/v1/memories/forget", json=body, headers=auth_headers())).json()["removed"]["memory"]
    assert (await read(run, timeout=0)).json()["document"]["goals"] == ["Ship in May"]


async def test_runs_of_more_than_a_day_ago_are_deleted_with_the_next_one(make_database, principal):
    old, renewed, new = uuid4(), uuid4(), uuid4()
    async with (
        Database(make_database("memory").service, 1).opened() as database,
        database.workspace(principal.workspace_id, user_id=principal.user_id) as connection,
    ):
        rows = SettledRunRows(connection, principal.workspace_id)
        for run in (old, renewed):
            await rows.settle(run, principal.user_id)
        await connection.execute("UPDATE settled_run SET settled_at = now() - interval '25 hours'")
        for run in (renewed, new):
            await rows.settle(run, principal.user_id)
        left = await (await connection.execute("SELECT run_id FROM settled_run")).fetchall()
    assert {run for (run,) in left} == {renewed, new}
