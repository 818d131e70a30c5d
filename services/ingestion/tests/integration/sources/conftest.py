"""Fixtures: sources in a real folder, synchronised as by a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ingestion.documents.incoming_files import IntakeLimits
from ingestion.documents.intake import Intake
from ingestion.settings import Settings
from ingestion.sources.settings import SourceRoot
from ingestion.sources.sync import Synchroniser, SyncPolicy
from ingestion.sources.syncs import sync_work
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.work import WorkQueue

MAX_FILE_BYTES = 500_000
MAX_QUEUED_BYTES = 50_000_000


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    return path


@pytest.fixture
def settings(settings: Settings, documents: Path) -> Settings:
    return settings.model_copy(update={"source_roots": (SourceRoot(path=documents, workspaces=("*",)),)})


@pytest.fixture
async def pool(settings: Settings) -> AsyncIterator[Database]:
    async with Database(settings.database_url.get_secret_value()).opened() as database:
        yield database


@pytest.fixture
def make_synchroniser(
    pool: Database, settings: Settings, object_store: ObjectStore, tmp_path: Path
) -> Callable[..., Synchroniser]:
    def make(name: str = "test", **options: Any) -> Synchroniser:
        intake = Intake(
            pool,
            object_store,
            Outbox("ingestion"),
            IntakeLimits(MAX_FILE_BYTES, options.get("queued", MAX_QUEUED_BYTES)),
        )
        policy = SyncPolicy(3, MAX_FILE_BYTES, tmp_path)
        queue = WorkQueue(pool, sync_work(settings.max_losses), settings.lease_seconds, name)
        stopping = options.get("stopping", lambda: False)
        return Synchroniser(pool, intake, queue, settings, policy, stopping)

    return make


@pytest.fixture
def work(make_synchroniser: Callable[..., Synchroniser]) -> Callable[[], Awaitable[int]]:
    """`await work()` synchronises until nothing is due; returns the number of synchronisations."""
    synchroniser = make_synchroniser()

    async def run() -> int:
        done = 0
        while held := await synchroniser.claim():
            await synchroniser.synchronise(held)
            done += 1
        return done

    return run


class SourceClient:
    """A source of the caller's workspace, used through the API."""

    def __init__(self, client: httpx2.AsyncClient, work: Callable[[], Awaitable[int]], source: dict[str, Any]) -> None:
        self.client, self.work, self.id, self.created = client, work, source["id"], source
        self.path = f"/v1/sources/{self.id}"

    async def get(self) -> dict[str, Any]:
        answer = await self.client.get(self.path)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def start(self, **params: Any) -> dict[str, Any]:
        answer = await self.client.post(f"{self.path}/sync", params=params)
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def sync(self, **params: Any) -> dict[str, Any]:
        """Runs a synchronisation and returns its result."""
        started = await self.start(**params)
        await self.work()
        return await self.read(started["id"])

    async def read(self, sync_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"{self.path}/syncs/{sync_id}")).json()
        return found

    async def changes(self, sync_id: str) -> list[tuple[str, str]]:
        """Returns (action, path) of all pages."""
        found, cursor = [], None
        while True:
            params = {"limit": 50, **({"cursor": cursor} if cursor else {})}
            page = (await self.client.get(f"{self.path}/syncs/{sync_id}/changes", params=params)).json()
            found += [(one["action"], one["path"]) for one in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    async def documents(self) -> dict[str, dict[str, Any]]:
        """Returns the workspace's documents by source path."""
        items = (await self.client.get("/v1/documents", params={"limit": 200})).json()["items"]
        return {one["source_path"]: one for one in items}


@pytest.fixture
def make_source(
    client: httpx2.AsyncClient, documents: Path, work: Callable[[], Awaitable[int]]
) -> Callable[..., Awaitable[SourceClient]]:
    """`await make_source(...)` creates a folder source on `documents`; with `sync=True`, queues a synchronisation."""

    async def make(sync: bool = False, config: dict[str, Any] | None = None, **fields: Any) -> SourceClient:
        body = {"name": "Handbook", "config": config or {"kind": "folder", "path": str(documents)}, **fields}
        answer = await client.post("/v1/sources", json=body, params={"sync": sync})
        assert answer.status_code == 201, answer.text
        return SourceClient(client, work, answer.json())

    return make
