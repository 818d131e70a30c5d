"""A folder as a source, through the gateway: its documents follow all changes of its files."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from api_calls import PATIENCE, REPOSITORY, created, processed

HERON = "# Herons\n\nThe grey heron nests in colonies high in the trees.\n\n## Food\n\nIt eats fish and frogs.\n"
STORK = "# Storks\n\ntags: birds, migration\n\nThe white stork winters in Africa and returns in March.\n"


@dataclass(frozen=True)
class Mounted:
    """A folder, with its path for this test and its path for the server."""

    here: Path
    there: str


@pytest.fixture
def mounted(address: tuple[str, str], data_folder: Path | None) -> Iterator[Mounted]:
    name = f"test-{uuid4()}"
    if os.environ.get("ATTRACTOR_COMPOSE"):
        here, there = REPOSITORY / "documents" / name, f"/documents/{name}"
    elif data_folder:
        here = data_folder / "documents" / name
        there = str(here)
    else:
        pytest.skip(f"the documents of {address[0]} are on another machine")
    here.mkdir(parents=True)
    yield Mounted(here, there)
    shutil.rmtree(here)


async def synchronised(http: httpx2.AsyncClient, source: str, **params: Any) -> dict[str, Any]:
    sync = (await http.post(f"/v1/sources/{source}/sync", params=params)).raise_for_status().json()
    while sync["status"] in {"queued", "running"}:
        wait = {"wait": "finished", "timeout": 30}
        sync = (await http.get(f"/v1/sources/{source}/syncs/{sync['id']}", params=wait)).raise_for_status().json()
    assert sync["status"] == "succeeded", sync
    return dict(sync)


async def searchable(http: httpx2.AsyncClient, name: str) -> dict[str, Any]:
    """Returns the document of this name once it is processed."""
    [document] = (await http.get("/v1/documents", params={"name": name})).raise_for_status().json()["items"]
    return await processed(http, document["id"])


async def best(http: httpx2.AsyncClient, query: str, **more: Any) -> dict[str, Any] | None:
    hits = (await http.post("/v1/search", json={"query": query, **more})).raise_for_status().json()["hits"]
    return hits[0] if hits else None


async def test_a_folder_source_is_created_synchronised_and_deleted(make_tenant, mounted):
    async with make_tenant("folder") as tenant:
        http = tenant.http
        (mounted.here / "herons.md").write_text(HERON)
        (mounted.here / "storks.md").write_text(STORK)
        config = {"kind": "folder", "path": mounted.there, "watch": False}
        source = (await created(http, "/v1/sources", {"name": "Birds", "config": config}))["id"]
        await synchronised(http, source)
        herons, storks = await searchable(http, "herons.md"), await searchable(http, "storks.md")
        assert (herons["source_name"], herons["source_path"]) == ("Birds", "herons.md")
        assert (storks["tags"], storks["language"]) == (["birds", "migration"], "en")
        assert (await best(http, "Where does it nest?", tags=["migration"]))["document_id"] == storks["id"]

        chunks = (await http.get(f"/v1/documents/{herons['id']}/chunks")).json()["items"]
        (mounted.here / "herons.md").write_text(HERON + "\n## Voice\n\nIts call is a harsh croak.\n")
        dry = await synchronised(http, source, dry_run="true")
        assert (dry["dry_run"], dry["changed"], dry["unchanged"]) == (True, 1, 1)
        sync = await synchronised(http, source)
        assert (sync["added"], sync["changed"], sync["removed"], sync["unchanged"]) == (0, 1, 0, 1)
        changed = await searchable(http, "herons.md")
        assert (changed["id"], changed["version"], changed["searchable_version"]) == (herons["id"], 2, 2)
        later = (await http.get(f"/v1/documents/{herons['id']}/chunks")).json()["items"]
        assert {one["chunk_id"] for one in chunks} < {one["chunk_id"] for one in later}
        assert "croak" in (await best(http, "What does its call sound like?"))["content"]

        (mounted.here / "herons.md").rename(mounted.here / "grey-herons.md")
        await synchronised(http, source)
        renamed = await searchable(http, "grey-herons.md")
        assert (renamed["id"], renamed["version"]) == (herons["id"], 2)

        (mounted.here / "storks.md").unlink()
        sync = await synchronised(http, source)
        assert sync["removed"] == 1
        assert (await http.get(f"/v1/documents/{storks['id']}")).status_code == 404
        receipt = (await http.delete(f"/v1/sources/{source}", params={"timeout": PATIENCE})).json()
        assert receipt["completed_at"], receipt
        assert not any(sum(one["remaining"].values()) for one in receipt["services"])
        assert await best(http, "heron") is None


async def test_a_watched_folder_is_synchronised_without_a_request(make_tenant, mounted):
    async with make_tenant("watched") as tenant:
        config = {"kind": "folder", "path": mounted.there, "watch": True}
        source = (await created(tenant.http, "/v1/sources", {"name": "Watched", "config": config}))["id"]
        await synchronised(tenant.http, source)
        (mounted.here / "herons.md").write_text(HERON)
        async with asyncio.timeout(PATIENCE):
            while True:
                if (await tenant.http.get("/v1/documents", params={"name": "herons.md"})).json()["items"]:
                    break
                await asyncio.sleep(0.3)  # nothing exists yet that a caller could wait for
        assert (await searchable(tenant.http, "herons.md"))["status"] == "searchable"
        await tenant.http.delete(f"/v1/sources/{source}", params={"timeout": PATIENCE})


async def test_a_folder_outside_the_roots_is_refused(make_tenant):
    async with make_tenant("outside") as tenant:
        for path in ("/etc", "/documents/../etc", "relative/path"):
            config = {"kind": "folder", "path": path}
            response = await tenant.http.post("/v1/sources", json={"name": "Outside", "config": config})
            assert response.status_code == 422, response.text


@pytest.mark.skipif(not os.environ.get("ATTRACTOR_COMPOSE"), reason="needs the Compose stack: ATTRACTOR_COMPOSE=1")
def test_the_stores_are_consistent():
    # By default, recent changes are not compared, and here all are recent.
    environment = ["-e", "SETTLED_AFTER_SECONDS=5"]
    command = ["docker", "compose", "exec", "-T", *environment, "ingestion", "python", "-m", "ingestion", "reconcile"]
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
