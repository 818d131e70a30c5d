"""Folders and S3 connections are open to the workspaces that the operator names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from contracts.events import WorkspaceAdministered
from ingestion.settings import Settings
from ingestion.sources.administrator import AdministratorEvents, AdministratorWorkspace, Standing
from ingestion.sources.settings import S3Connection, SourceRoot, SourceSettings
from ingestion.sources.sync import Synchroniser
from service_kit.outbox import new_event
from service_kit.postgres import Database

MakeSource = Callable[..., Awaitable[Any]]
PLACES = [
    ({"kind": "folder", "path": "."}, "SOURCE_ROOTS"),
    ({"kind": "git", "path": "."}, "SOURCE_ROOTS"),
    ({"kind": "s3", "connection": "archive", "bucket": "documents"}, "SOURCE_S3_CONNECTIONS"),
]


@pytest.fixture
def settings(settings: Settings, documents: Path) -> Settings:
    """A folder and a connection that name no workspace, and one of each that names another workspace."""
    foreign = (uuid4(),)
    (documents / "foreign").mkdir()
    archive = {"endpoint": "s3.example.org", "access_key": "a", "secret_key": "b"}
    connections = {"archive": S3Connection(**archive), "foreign": S3Connection(**archive, workspaces=foreign)}
    roots = (SourceRoot(path=documents), SourceRoot(path=documents.parent, workspaces=foreign))
    return settings.model_copy(update={"source_roots": roots, "source_s3_connections": connections})


async def _announce(pool: Database, workspace_id: UUID) -> None:
    event = new_event("gateway", workspace_id, WorkspaceAdministered(), str(workspace_id))
    await AdministratorEvents(pool).administered(event)


@pytest.mark.parametrize(("config", "setting"), PLACES)
async def test_a_folder_without_named_workspaces_is_open_only_to_the_administrators_workspace(
    config: dict[str, Any], setting: str, client: httpx2.AsyncClient, pool: Database
) -> None:
    """Prevents the owner of any workspace from reading folders and buckets that are mounted for another one."""
    await _announce(pool, uuid4())
    answer = await client.post("/v1/sources", json={"name": "a", "config": config})
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (422, "source-refused"), answer.text
    assert setting in answer.json()["detail"]
    assert (await client.get("/v1/sources")).json()["items"] == []


async def test_the_administrators_workspace_may_use_it(
    make_source: MakeSource, documents: Path, pool: Database, workspace_id: UUID, client: httpx2.AsyncClient
) -> None:
    await _announce(pool, workspace_id)
    (documents / "a.md").write_text("text")
    source = await make_source()
    assert (await source.sync())["status"] == "succeeded"
    config = {"kind": "s3", "connection": "archive", "bucket": "documents"}
    answer = await client.post("/v1/sources", json={"name": "a", "config": config}, params={"sync": False})
    assert answer.status_code == 201, answer.text


async def test_a_folder_assigned_to_other_workspaces_is_closed_to_the_administrators_workspace(
    client: httpx2.AsyncClient, pool: Database, workspace_id: UUID, documents: Path
) -> None:
    await _announce(pool, workspace_id)
    for config in (
        {"kind": "folder", "path": str(documents.parent)},
        {"kind": "s3", "connection": "foreign", "bucket": "documents"},
    ):
        assert (await client.post("/v1/sources", json={"name": "a", "config": config})).status_code == 422


async def test_a_changed_setting_revokes_access_at_the_next_synchronisation(
    make_source: MakeSource,
    make_synchroniser: Callable[..., Synchroniser],
    settings: Settings,
    documents: Path,
    pool: Database,
    workspace_id: UUID,
) -> None:
    """Also covers an upgrade with a source on another workspace's folder: its documents stay."""
    await _announce(pool, workspace_id)
    (documents / "a.md").write_text("text")
    source = await make_source()
    await source.sync()
    (documents / "b.md").write_text("more")
    sync = await source.start()
    narrowed = make_synchroniser("after the change")
    narrowed.settings = settings.model_copy(
        update={"source_roots": (SourceRoot(path=documents, workspaces=(uuid4(),)),)}
    )
    held = await narrowed.claim()
    assert held is not None
    await narrowed.synchronise(held)
    ended = await source.read(sync["id"])
    assert (ended["status"], ended["error_class"]) == ("failed", "not-allowed")
    assert "SOURCE_ROOTS" in ended["error_message"]
    assert set(await source.documents()) == {"a.md"}


async def test_the_latest_announcement_determines_the_administrators_workspace(pool: Database) -> None:
    first, second, now = uuid4(), uuid4(), datetime.now(UTC)

    async def standing(workspace_id: UUID) -> bool:
        async with pool.workspace(workspace_id) as connection:
            return await Standing(connection, workspace_id).is_administrators()

    for workspace_id, at in ((second, now), (first, now - timedelta(hours=1)), (second, now - timedelta(hours=2))):
        async with pool.system() as connection:
            await AdministratorWorkspace(connection).choose(workspace_id, at)
    assert (await standing(first), await standing(second)) == (False, True)


def test_permitted_workspaces_are_configured_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace_id = uuid4()
    monkeypatch.setenv("SOURCE_ROOTS", f'["/a", {{"path": "/b", "workspaces": ["{workspace_id}"]}}]')
    configured = SourceSettings()
    assert configured.reach(workspace_id, False).roots == (Path("/b"),)
    assert configured.reach(uuid4(), True).roots == (Path("/a"),)
    monkeypatch.setenv("SOURCE_ROOTS", '[{"path": "/a", "workspaces": ["*"]}]')
    assert SourceSettings().reach(uuid4(), False).roots == (Path("/a"),)
    monkeypatch.setenv("SOURCE_ROOTS", '[{"path": "/a", "workspaces": ["all"]}]')
    with pytest.raises(ValueError, match="workspaces"):
        SourceSettings()
