"""The queue of runs keeps the promises of every table of leased work."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from work_conformance import WorkCase, WorkConformance

from contracts.gateway import Role
from contracts.orchestrator import MessageCreate, RunStatus
from orchestrator.errors import TooManyQueued
from orchestrator.runs.repository import MOST_QUEUED, RUNS
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.work import WorkQueue


class TestRunQueue(WorkConformance):
    @pytest.fixture
    async def case(self, make_database: Callable[[str], Any]) -> AsyncIterator[WorkCase]:
        url = make_database("orchestrator").service
        async with Database(url, 6).opened() as database:

            async def add(workspace_id: UUID, count: int) -> None:
                caller = Principal(uuid4(), workspace_id, Role.viewer)
                for _ in range(count):
                    async with database.workspace(workspace_id) as connection:
                        sessions = CallerSessions(connection, caller)
                        session = await sessions.create(None, None)
                        await CallerMessages(connection, caller).ask(session.id, MessageCreate(content="How?"), None, 3)

            yield WorkCase(
                queue=lambda owner, lease_seconds: WorkQueue(database, RUNS, lease_seconds, owner),
                add=add,
                notifications=Notifications(url, RUNS.channel),
                finished=RunStatus.completed,
            )


async def test_users_take_turns_and_their_number_of_waiting_runs_is_limited(
    make_database: Callable[[str], Any],
) -> None:
    workspace_id = uuid4()
    busy, patient = (Principal(uuid4(), workspace_id, Role.viewer) for _ in range(2))
    async with Database(make_database("orchestrator").service, 2).opened() as database:
        queue = WorkQueue(database, RUNS, 60.0)

        async def ask(caller: Principal, times: int) -> None:
            async with database.workspace(workspace_id) as connection:
                session = await CallerSessions(connection, caller).create(None, None)
                messages = CallerMessages(connection, caller)
                for _ in range(times):
                    await messages.ask(session.id, MessageCreate(content="How?", parent_id=None), None, 3)

        await ask(busy, MOST_QUEUED)
        with pytest.raises(TooManyQueued):
            await ask(busy, 1)
        await ask(patient, 2)
        claimed = Counter(run.created_by for run in await queue.claim(4))
        assert claimed == {busy.user_id: 2, patient.user_id: 2}
        await ask(busy, 2)
        with pytest.raises(TooManyQueued):
            await ask(busy, 1)


async def test_a_run_waits_only_for_the_run_of_its_parent(make_database: Callable[[str], Any]) -> None:
    caller = Principal(uuid4(), uuid4(), Role.viewer)
    async with Database(make_database("orchestrator").service, 2).opened() as database:
        async with database.workspace(caller.workspace_id) as connection:
            session = await CallerSessions(connection, caller).create(None, None)
            messages = CallerMessages(connection, caller)
            first, second = [await messages.ask(session.id, MessageCreate(content=text), None, 3) for text in "ab"]
            edit = MessageCreate(content="A different beginning", parent_id=None)
            beside = await messages.ask(session.id, edit, None, 3)
        queue = WorkQueue(database, RUNS, 60.0)
        runs = {run.id: run for run in await queue.claim(5)}
        assert set(runs) == {first.id, beside.id}
        async with database.workspace(caller.workspace_id) as connection:
            await queue.finish(connection, runs[first.id], RunStatus.failed)
        [run] = await queue.claim(5)
        assert run.id == second.id
