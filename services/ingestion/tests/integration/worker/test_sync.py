"""A source is synchronised by a worker, and its files become searchable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ingestion.settings import Settings
from ingestion.sources.settings import SourceRoot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    for number in range(4):
        (path / f"{number}.md").write_text(f"# Note {number}\n\nThe text of note {number}.\n")
    return path


@pytest.fixture
def settings(settings: Settings, folder: Path) -> Settings:
    return settings.model_copy(update={"source_roots": (SourceRoot(path=folder, workspaces=("*",)),)})


async def test_files_of_a_folder_become_searchable_in_the_bulk_lane(
    workers: Any, client: httpx2.AsyncClient, neighbours: Any, eventually: Any, folder: Path
) -> None:
    assert neighbours
    with workers.started(SOURCE_ROOTS=json.dumps([{"path": str(folder), "workspaces": ["*"]}])):
        body = {"name": "Notes", "config": {"kind": "folder", "path": str(folder), "watch": False}}
        created = await client.post("/v1/sources", json=body)
        assert created.status_code in {201, 202}, created.text

        async def documents() -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = (await client.get("/v1/documents")).json()["items"]
            return items

        found = await eventually(documents, lambda items: [one["status"] for one in items] == ["searchable"] * 4)
    assert {one["source_type"] for one in found} == {"folder"}
    detail = (await client.get(f"/v1/documents/{found[0]['id']}")).json()
    assert {stage["lane"] for stage in detail["stages"]} == {"bulk"}
