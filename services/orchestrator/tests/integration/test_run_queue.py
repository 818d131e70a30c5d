"""The queue of runs keeps the promises of every table of leased work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from work_conformance import WorkCase, WorkConformance

from contracts.gateway import Role
from contracts.orchestrator import MessageCreate, RunStatus
from orchestrator.runs.repository import RUNS
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
                        await sessions.ask(session.id, MessageCreate(content="How?"), None, 3)

            yield WorkCase(
                queue=lambda owner, lease_seconds: WorkQueue(database, RUNS, lease_seconds, owner),
                add=add,
                notifications=Notifications(url, RUNS.channel),
                finished=RunStatus.completed,
            )


async def test_turns_of_one_session_are_claimed_one_after_the_other(make_database: Callable[[str], Any]) -> None:
    caller = Principal(uuid4(), uuid4(), Role.viewer)
    async with Database(make_database("orchestrator").service, 2).opened() as database:
        async with database.workspace(caller.workspace_id) as connection:
            sessions = CallerSessions(connection, caller)
            session = await sessions.create(None, None)
            first, second = [(await sessions.ask(session.id, MessageCreate(content=text), None, 3))[0] for text in "ab"]
        queue = WorkQueue(database, RUNS, 60.0)
        [run] = await queue.claim(5)
        assert run.id == first
        async with database.workspace(caller.workspace_id) as connection:
            await queue.finish(connection, run, RunStatus.failed)
        [run] = await queue.claim(5)
        assert run.id == second
