"""Workers killed between a change and its record: the counts are still those of the whole synchronisation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ingestion.sources.sync import Synchroniser

MakeSource = Callable[..., Awaitable[Any]]


class KilledIntake:
    """An intake that hangs after `count` calls of the method `name`, and sets `reached`."""

    def __init__(self, real: Any, name: str, count: int) -> None:
        self.real, self.name, self.left, self.reached = real, name, count, asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        return self.until(found) if name == self.name else found

    def until(self, found: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*values: Any) -> Any:
            if self.left == 0:
                self.reached.set()
                await asyncio.Event().wait()
            self.left -= 1
            return await found(*values)

        return call


@pytest.fixture
def killed_at(
    make_synchroniser: Callable[..., Synchroniser], database: Any, eventually: Any
) -> Callable[..., Awaitable[None]]:
    """`await killed_at(source, sync, "take", 5)` runs a worker that is lost at the sixth call of `take`."""

    async def kill(source: Any, sync: dict[str, Any], name: str, count: int) -> None:
        synchroniser = make_synchroniser()
        synchroniser.intake = intake = KilledIntake(synchroniser.intake, name, count)  # type: ignore[assignment]
        held = await synchroniser.claim()
        assert held is not None
        dying = asyncio.create_task(synchroniser.synchronise(held))
        async with asyncio.timeout(120):
            await intake.reached.wait()
        dying.cancel()
        await asyncio.wait([dying])
        with psycopg.connect(database.admin, autocommit=True) as connection:
            connection.execute("UPDATE ingestion.source_sync SET lease_expires_at = now() - interval '1 hour'")
        await eventually(lambda: source.read(sync["id"]), lambda one: one["status"] == "queued")

    return kill


async def test_counts_and_list_cover_the_whole_synchronisation_after_a_kill(
    make_source: MakeSource, documents: Path, killed_at: Callable[..., Awaitable[None]]
) -> None:
    for number in range(12):
        (documents / f"{number:02}.md").write_text(f"text {number}")
    source = await make_source()
    await source.sync()
    for number in range(4):
        (documents / f"{number:02}.md").unlink()
    for number in range(4, 7):
        (documents / f"{number:02}.md").write_text(f"changed {number}")
    for number in range(20, 25):
        (documents / f"{number:02}.md").write_text(f"new {number}")

    sync = await source.start()
    await killed_at(source, sync, "take", 3)
    await killed_at(source, sync, "drop", 2)
    assert await source.work() == 1

    done = await source.read(sync["id"])
    counts = {name: done[name] for name in ("seen", "added", "changed", "removed", "unchanged")}
    assert (done["status"], counts) == (
        "succeeded",
        {"seen": 13, "added": 5, "changed": 3, "removed": 4, "unchanged": 5},
    )
    assert sorted(await source.changes(sync["id"])) == sorted(
        [("remove", f"{number:02}.md") for number in range(4)]
        + [("change", f"{number:02}.md") for number in range(4, 7)]
        + [("add", f"{number:02}.md") for number in range(20, 25)]
    )
    assert len(await source.documents()) == 13


async def test_a_worker_that_stops_midway_does_not_count_as_an_attempt(
    make_source: MakeSource, documents: Path, make_synchroniser: Callable[..., Synchroniser]
) -> None:
    for number in range(12):
        (documents / f"{number:02}.md").write_text(f"text {number}")
    source = await make_source()
    sync = await source.start()
    stopping = make_synchroniser(stopping=lambda: intake.reached.is_set())
    stopping.intake = intake = KilledIntake(stopping.intake, "take", 3)  # type: ignore[assignment]
    held = await stopping.claim()
    assert held is not None
    await stopping.synchronise(held)
    back = await source.read(sync["id"])
    assert (back["status"], back["attempts"]) == ("queued", 0)
    assert await source.work() == 1
    done = await source.read(sync["id"])
    assert (done["status"], done["seen"], done["added"], done["unchanged"]) == ("succeeded", 12, 12, 0)
