"""Fixtures: the intake as synchronisations use it, and requests that several tests make."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest

from contracts.ingestion import Lane, OriginKind
from contracts.sources import OnRemoved
from ingestion.documents.incoming_files import IncomingFile, IntakeLimits, Taken
from ingestion.documents.intake import Dropped, Intake
from ingestion.documents.origins import Provenance
from ingestion.settings import Settings
from ingestion.worker import failures
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database


@dataclass
class Folder:
    """A source of the kind `folder`, synchronised by hand."""

    intake: Intake
    workspace_id: UUID
    scratch: Path
    source_id: UUID = field(default_factory=uuid4)

    async def take(self, path: str, content: bytes, lane: Lane = Lane.bulk) -> Taken:
        digest = hashlib.sha256(content).hexdigest()
        stored = self.scratch / f"{uuid4()}"
        stored.write_bytes(content)
        file = IncomingFile(stored, path.rsplit("/", 1)[-1], len(content), digest, content[:8192])
        place = Provenance(OriginKind.folder, self.source_id, path, uri=f"file:///{path}", fingerprint=digest)
        return await self.intake.take(self.workspace_id, file, place, lane)

    async def drop(self, origin_id: UUID | None, on_removed: OnRemoved = OnRemoved.delete) -> Dropped:
        assert origin_id
        return await self.intake.drop(self.workspace_id, origin_id, on_removed)


@pytest.fixture
def late_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A postponed stage does not become due by itself while a test runs."""
    monkeypatch.setattr(failures, "FIRST_DELAY_SECONDS", 900.0)


@pytest.fixture
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    async with Database(settings.database_url.get_secret_value(), 8).opened() as database:
        yield database


@pytest.fixture
def intake(open_database: Database, object_store: ObjectStore, settings: Settings) -> Intake:
    limits = IntakeLimits(settings.max_file_bytes, settings.max_queued_bytes)
    return Intake(open_database, object_store, Outbox("ingestion"), limits)


@pytest.fixture
def make_folder(database: Any, intake: Intake, workspace_id: UUID, tmp_path: Path) -> Callable[..., Folder]:
    """`make_folder("docs")` creates a source with this name."""

    def make(name: str = "docs") -> Folder:
        scratch = tmp_path / f"{uuid4()}"
        scratch.mkdir()
        folder = Folder(intake, workspace_id, scratch)
        with psycopg.connect(database.admin) as connection:
            connection.execute(
                "INSERT INTO ingestion.source (workspace_id, id, name, kind, config, on_removed)"
                " VALUES (%s, %s, %s, 'folder', '{}', 'delete')",
                (workspace_id, folder.source_id, name),
            )
        return folder

    return make


@pytest.fixture
def folder(make_folder: Callable[..., Folder]) -> Folder:
    return make_folder()


@pytest.fixture
def settled(client: httpx2.AsyncClient) -> Callable[..., Awaitable[dict[str, Any]]]:
    """`await settled(document_id)` waits until the document is searchable or ended, or for another state `wait`."""

    async def wait(document_id: UUID | str, wait: str = "searchable", timeout: float = 120) -> dict[str, Any]:
        answer = await client.get(f"/v1/documents/{document_id}", params={"wait": wait, "timeout": timeout})
        detail: dict[str, Any] = answer.json()
        return detail

    return wait
