"""Embedding spaces as leased work: the suite that every queue passes."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from work_conformance import WorkCase, WorkConformance

from contracts.embedding_spaces import SpaceStatus
from retrieval.spaces.rows import CHANNEL, IDLE, TABLE, SpaceRows, space_id
from service_kit.notifications import Notifications
from service_kit.work import WorkQueue

DIMS = 8
ADD = "INSERT INTO embedding_space (workspace_id, id, model, dims, status) VALUES (%s, %s, %s, %s, 'building')"


class TestSpaceQueue(WorkConformance):
    @pytest.fixture
    def case(self, database, urls) -> WorkCase:
        models: list[str] = []

        async def add(workspace_id: UUID, count: int) -> None:
            for _ in range(count):  # each in a transaction of its own, so that they are due in order
                models.append(f"model {len(models)}")
                async with database.workspace(workspace_id) as connection:
                    values = (workspace_id, space_id(models[-1], DIMS), models[-1], DIMS)
                    await connection.execute(ADD, values)

        return WorkCase(
            queue=lambda owner, lease_seconds: WorkQueue(database, TABLE, lease_seconds, owner),
            add=add,
            notifications=Notifications(urls.service, CHANNEL),
            finished=IDLE,
            parameters={"models": [f"model {number}" for number in range(20)], "dims": [DIMS] * 20},
        )

    async def test_a_space_waits_while_its_model_is_not_configured(self, case):
        await case.add(uuid4(), 1)
        queue = case.queue("first", 60.0)
        assert await queue.claim(1, models=["another"], dims=[DIMS]) == []
        assert len(await case.claim("first", 1)) == 1

    async def test_a_status_change_takes_the_space_from_its_holder(self, case, database):
        workspace_id = uuid4()
        await case.add(workspace_id, 1)
        [held] = await case.claim("first", 1)
        async with database.workspace(workspace_id) as connection:
            rows = SpaceRows(connection, workspace_id)
            [row] = await rows.spaces()
            await rows.change(row, SpaceStatus.dropping)
        [again] = await case.claim("second", 1)
        assert (again.id, again.status, again.attempts) == (held.id, "dropping", 1)
        assert again.lease_token != held.lease_token
