"""A failed run is tried again from where it failed."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

VERIFY = "orchestrator.graphs.conversation.nodes.verify_citations.verified"
WHOLE = "Tokens expire after fifteen minutes [1]. Also."


def away(*_: Any, **__: Any) -> Any:
    raise psycopg.OperationalError("the server closed the connection")


async def executed(settings: Any, statement: str) -> int:
    url = settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        return (await connection.execute(statement.encode())).rowcount


async def failed(service: Any) -> str:
    """Asks a question whose run fails after its answer was written; returns the run's id."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(VERIFY, away)
        run = await service.ask(await service.session())
        assert (await service.events(run["id"]))[-1].name == "run_failed"
    return str(run["id"])


@pytest.mark.parametrize("later", [False, True])
async def test_a_retried_run_resumes_where_it_failed(start: Any, model_settings: Any, world: Any, later: bool) -> None:
    settings = model_settings.model_copy(update={"run_max_attempts": 1})
    async with start(settings) as service, asyncio.timeout(120):
        run_id = await failed(service)
        if later:  # the checkpoints of a failed run are kept for a day
            await executed(settings, "UPDATE run SET finished_at = now() - interval '25 hours'")
    async with start(settings) as service, asyncio.timeout(120):
        if later:
            while await executed(settings, f"SELECT FROM checkpoints WHERE thread_id = '{run_id}'"):
                await service.run(run_id)
        before = await service.run(run_id)
        retried = await service.client.post(f"/v1/runs/{run_id}/retry")
        events = await service.events(run_id)
        ended = await service.run(run_id)
        again = await service.client.post(f"/v1/runs/{run_id}/retry")
    assert (before["status"], before["error_type"]) == ("failed", "internal-error")
    assert (before["answer"]["status"], before["answer"]["content"]) == ("incomplete", WHOLE)
    assert (ended["answer"]["status"], ended["answer"]["content"]) == ("completed", WHOLE)
    assert (retried.status_code, retried.json()["id"]) == (200, run_id)
    assert [event.name for event in events if event.name in ("run_failed", "run_completed")] == ["run_completed"]
    assert events[-1].data["content"] == WHOLE
    assert (ended["status"], ended["attempts"], ended["error_type"]) == ("completed", 2, None)
    assert len(world.searches) == (2 if later else 1)
    assert sum("title of three" not in chat["messages"][0]["content"] for chat in world.chats) == (2 if later else 1)
    assert (again.status_code, again.json()["type"]) == (409, "run-not-failed")


async def test_users_retry_only_their_own_runs(start: Any, model_settings: Any, other_user: Any) -> None:
    async with start(model_settings.model_copy(update={"run_max_attempts": 1})) as service, asyncio.timeout(120):
        run_id = await failed(service)
        answer = await service.client.post(f"/v1/runs/{run_id}/retry", headers=other_user)
    assert (answer.status_code, answer.json()["type"]) == (404, "run-not-found")
