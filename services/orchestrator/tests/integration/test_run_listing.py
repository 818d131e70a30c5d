"""Runs are found again: by session, by state, and from the session itself."""

from __future__ import annotations

import asyncio
from typing import Any


async def test_runs_are_listed_by_session_and_state(
    start: Any, model_settings: Any, world: Any, other_user: Any
) -> None:
    writing, over = asyncio.Event(), asyncio.Event()

    async def pace(_: int) -> None:
        writing.set()
        await over.wait()

    async with start(model_settings) as service, asyncio.timeout(120):

        async def listed(headers: dict[str, str] | None = None, **params: Any) -> list[tuple[str, str]]:
            response = await service.client.get("/v1/runs", params=params, headers=headers)
            assert response.status_code == 200, response.text
            assert all(run["answer"] is None for run in response.json()["items"])
            return [(run["id"], run["status"]) for run in response.json()["items"]]

        first, second = await service.session(), await service.session()
        done = (await service.ask(first))["id"]
        await service.events(done)
        world.pace = pace
        running = (await service.ask(second))["id"]
        waiting = (await service.ask(second))["id"]
        await writing.wait()
        active = [(waiting, "queued"), (running, "running")]
        assert await listed() == [*active, (done, "completed")]
        assert await listed(session_id=second) == active
        assert await listed(status=["queued", "running"]) == active
        assert await listed(status="completed") == await listed(session_id=first) == [(done, "completed")]
        assert await listed(status="failed") == []
        assert await listed(headers=other_user) == await listed(headers=other_user, session_id=second) == []
        page = (await service.client.get("/v1/runs", params={"limit": 2})).json()
        rest = await listed(limit=2, cursor=page["next_cursor"])
        assert [run["id"] for run in page["items"]] == [waiting, running]
        assert rest == [(done, "completed")]
        assert (await service.client.get("/v1/runs", params={"status": "asleep"})).status_code == 422

        session = (await service.client.get(f"/v1/sessions/{second}")).json()
        assert session["active_run_ids"] == [running, waiting]
        over.set()
        for run in (running, waiting):
            await service.events(run)
        assert (await service.client.get(f"/v1/sessions/{second}")).json()["active_run_ids"] == []
