"""Checkpoints are plain values."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import ormsgpack
import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde import jsonplus
from redis.asyncio import Redis

from orchestrator import checkpoints
from orchestrator.runs.ended import EndedRuns
from service_kit.postgres import Database

THREAD: Any = {"configurable": {"thread_id": "a-run", "checkpoint_ns": ""}}
FORGED = {
    "one argument": (jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, ("forged", "called", "harm")),
    "arguments": (jsonplus.EXT_CONSTRUCTOR_POS_ARGS, ("forged", "called", ["harm"])),
    "named arguments": (jsonplus.EXT_CONSTRUCTOR_KW_ARGS, ("forged", "called", {"what": "harm"})),
    "method": (jsonplus.EXT_METHOD_SINGLE_ARG, ("forged", "Class", "harm", "called")),
    "model": (jsonplus.EXT_PYDANTIC_V2, ("forged", "Class", {"what": "harm"}, "called")),
}


async def test_the_size_of_checkpoints_is_reported_and_released_with_the_runs(
    start: Any, model_settings: Any, world: Any, redis_url: str
) -> None:
    waiting, over = asyncio.Event(), asyncio.Event()

    async def pace(_: int) -> None:
        waiting.set()
        await over.wait()

    world.pace = pace
    url = model_settings.database_url.get_secret_value()
    async with (
        start(model_settings) as service,
        checkpoints.opened(url, 1) as saved,
        Database(url, 1).opened() as database,
        Redis.from_url(redis_url) as redis,
        asyncio.timeout(120),
    ):
        ended = EndedRuns(database, redis, saved)
        assert await ended.checkpoint_bytes() == 0
        run = await service.ask(await service.session())
        await waiting.wait()
        measured = await ended.checkpoint_bytes()
        assert measured > 1_000
        assert f"attractor_checkpoint_bytes {float(measured)}" in (await service.client.get("/metrics")).text
        over.set()
        await service.events(run["id"])
    async with start(model_settings) as service:  # the first process has ended its work
        metrics = (await service.client.get("/metrics")).text
        assert "attractor_checkpoint_bytes 0.0" in metrics
        assert "attractor_runs_waiting 0.0" in metrics


@pytest.mark.parametrize("way", FORGED)
async def test_a_type_named_in_a_stored_row_is_neither_imported_nor_called(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "forged.py").write_text(
        f"open({str(trace)!r}, 'a').write('imported')\n"
        f"def called(what=None): open({str(trace)!r}, 'a').write('called')\n"
        "class Class:\n    called = staticmethod(called)\n    __init__ = lambda self, what=None: called(what)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code, named = FORGED[way]
    forged = ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(named)))
    url = settings.database_url.get_secret_value()
    async with checkpoints.opened(url, 1) as saved:
        saver = saved.saver(uuid4())
        checkpoint = {**empty_checkpoint(), "channel_values": {"passages": ["plain"]}}
        await saver.aput(THREAD, checkpoint, {"source": "loop", "step": 1}, {"passages": "1"})  # type: ignore[arg-type]
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await connection.execute("SET app.scope = 'system'")
            changed = await connection.execute(
                "UPDATE checkpoint_blobs SET blob = %s WHERE channel = 'passages'", (forged,)
            )
            await connection.execute(
                "UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{channel_versions}', %s)",
                ('{"passages": "1"}',),
            )
            assert changed.rowcount == 1
        read = await saver.aget(THREAD)
    assert read is not None
    assert "harm" in str(read["channel_values"]["passages"])
    assert not trace.exists()
    assert "forged" not in sys.modules
