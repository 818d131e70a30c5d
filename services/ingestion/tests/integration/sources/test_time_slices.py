"""A long synchronisation makes way for those of other workspaces, and resumes where it stopped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ingestion.settings import Settings
from ingestion.sources.run import LOOK_ROUND_EVERY
from ingestion.sources.sync import Synchroniser

FILES = 6 * LOOK_ROUND_EVERY
OTHER = """
WITH other AS (
    INSERT INTO ingestion.source (workspace_id, id, name, kind, config, on_removed)
    VALUES (%s, gen_random_uuid(), 'Other', 'folder', '{"kind": "folder", "path": "x"}', 'delete')
    RETURNING workspace_id, id
)
INSERT INTO ingestion.source_sync (workspace_id, id, source_id, trigger)
SELECT workspace_id, gen_random_uuid(), id, 'request' FROM other
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"source_slice_seconds": 0.001})


@pytest.mark.parametrize("queued", [50_000_000, 100])
async def test_another_workspace_gets_a_turn_between_two_slices(
    make_source: Callable[..., Awaitable[Any]],
    make_synchroniser: Callable[..., Synchroniser],
    documents: Path,
    database: Any,
    queued: int,
) -> None:
    """Also covers a slice that ends while the synchronisation waits for room in a full queue."""
    for number in range(FILES):
        (documents / f"{number:03}.md").write_text(f"text {number}")
    source = await make_source()
    sync = await source.start()
    synchroniser, other = make_synchroniser(queued=queued), uuid4()
    with psycopg.connect(database.admin) as connection:
        connection.execute(OTHER, (other,))

    held = await synchroniser.claim()
    assert held is not None
    await synchroniser.synchronise(held)
    between = await source.read(sync["id"])
    assert (between["status"], between["error_class"]) == ("queued", None)
    taken = {path for _, path in await source.changes(sync["id"])}
    assert LOOK_ROUND_EVERY <= len(taken) < FILES

    held = await synchroniser.claim()
    assert held is not None
    assert held.workspace_id == other
    await synchroniser.synchronise(held)
    assert await source.work() == 1
    ended = await source.read(sync["id"])
    assert (ended["status"], ended["added"], ended["attempts"]) == ("succeeded", FILES, 1)
    changes = await source.changes(sync["id"])
    assert (len(changes), len(set(changes))) == (FILES, FILES)
