"""What operators meet: migrations that race, stores that are away, two processes on one queue."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import langsmith
import pytest
from fastapi import FastAPI
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.checkpoint.base import empty_checkpoint
from redis.asyncio import Redis

from orchestrator import checkpoints
from orchestrator.runs.ended import EndedRuns
from service_kit.postgres import Database


async def test_migrations_can_run_concurrently_and_repeatedly(make_database: Callable[[str], Any]) -> None:
    urls = make_database("orchestrator")
    variables = {**os.environ, "DATABASE_URL": urls.service, "ADMIN_DATABASE_URL": urls.admin}

    async def migrate() -> int | None:
        child = await asyncio.create_subprocess_exec(sys.executable, "-m", "orchestrator", "migrate", env=variables)
        return await child.wait()

    async with asyncio.timeout(120):
        assert tuple(await asyncio.gather(migrate(), migrate(), migrate())) == (0, 0, 0)
        assert await migrate() == 0


async def test_no_content_of_a_run_leaves_the_service_in_traces(
    start: Any, settings: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points LANGSMITH_ENDPOINT, to which LangGraph can send traces, at a recording server."""
    received: list[str] = []
    recorder = FastAPI()

    @recorder.api_route("/{path:path}", methods=["GET", "POST", "PATCH"])
    async def record(path: str) -> dict[str, str]:
        received.append(path)
        return {}

    async with serve(recorder) as url, asyncio.timeout(120):
        for name, value in {"TRACING": "true", "ENDPOINT": url, "API_KEY": "key"}.items():
            monkeypatch.setenv(f"LANGSMITH_{name}", value)
        langsmith.utils.get_env_var.cache_clear()
        async with start(settings) as service:
            await service.events((await service.ask(await service.session()))["id"])
            await asyncio.to_thread(wait_for_all_tracers)
        langsmith.utils.get_env_var.cache_clear()
    assert received == []


async def test_a_run_ends_even_if_redis_is_down(start: Any, settings: Any, unused_port: int) -> None:
    away = settings.model_copy(update={"redis_url": type(settings.redis_url)(f"redis://127.0.0.1:{unused_port}")})
    async with start(away) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        ready = await service.client.get("/readyz")
        while not (ended := await service.run(run["id"]))["finished_at"]:  # noqa: ASYNC110  polling is what is left
            await asyncio.sleep(0.1)
    assert ended["status"] == "completed"
    assert ended["answer"]["citations"]
    assert "redis" in ready.json()["failures"]
    async with start(settings) as service:  # and is told when Redis is back
        events = await service.events(run["id"])
    assert events[-1].name == "run_completed"


async def test_a_run_is_cancelled_through_another_process(start: Any, model_settings: Any, world: Any) -> None:
    waiting = asyncio.Event()

    async def forever(_: int) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.pace = forever
    idle = model_settings.model_copy(update={"run_concurrency": 1})
    async with start(model_settings) as one, start(idle) as other, asyncio.timeout(120):
        run = await one.ask(await one.session())
        await waiting.wait()
        for service in (one, other):  # one of them does not work on it
            await service.client.post(f"/v1/runs/{run['id']}/cancel")
        events = await other.events(run["id"])
    assert events[-1].name == "run_cancelled"


async def test_many_runs_on_two_processes_each_end_once(start: Any, settings: Any) -> None:
    async with start(settings) as one, start(settings) as other, asyncio.timeout(240):
        sessions = [await one.session(title="t") for _ in range(10)]
        runs = [await (one, other)[at % 2].ask(sessions[at % 10], f"Question {at}?") for at in range(30)]
        for run in runs:
            events = await other.events(run["id"])
            assert [event.name for event in events].count("run_completed") == 1
        run_ids = []
        for session in sessions:
            page = (await one.client.get(f"/v1/sessions/{session}/messages")).json()
            roles = [message["role"] for message in page["items"]]
            assert sorted(roles) == ["assistant"] * 3 + ["user"] * 3
            run_ids += [message["run_id"] for message in page["items"] if message["role"] == "assistant"]
    assert sorted(run_ids) == sorted(run["id"] for run in runs)


async def test_orphaned_checkpoints_are_deleted(settings: Any, redis_url: str) -> None:
    url = settings.database_url.get_secret_value()
    async with (
        checkpoints.opened(url, 1) as saved,
        Database(url, 1).opened() as database,
        Redis.from_url(redis_url) as redis,
    ):
        saver = saved.saver(uuid4())
        config: Any = {"configurable": {"thread_id": "a-run-that-is-gone", "checkpoint_ns": ""}}
        await saver.aput(config, empty_checkpoint(), {"source": "loop", "step": 1}, {})
        assert await saver.aget(config) is not None
        await EndedRuns(database, redis, saved).delete_abandoned()
        assert await saver.aget(config) is None
