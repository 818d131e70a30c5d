"""A folder mounted for one workspace cannot be a source of another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from uuid import uuid4

import httpx2
from api_calls import PATIENCE, Tenant, created
from stack import EmbeddedStack

FOLDERS = ({"kind": "folder", "path": "."}, {"kind": "git", "path": "."}, {"kind": "folder", "path": "{place}"})


async def test_the_documents_folder_is_open_only_to_the_administrators_workspace(
    stack: EmbeddedStack, admin: httpx2.AsyncClient, make_tenant: Callable[[str], AbstractAsyncContextManager[Tenant]]
) -> None:
    """Regression: owners of two workspaces could both add the source `.`, and read what was mounted for the other."""
    name = f"secret-{uuid4()}"
    place = stack.folder.path / "documents" / name
    place.mkdir(parents=True)
    (place / "secret.md").write_text("# Secret\n\nThe herring is in the third barrel.\n")
    async with make_tenant("curious") as tenant:
        for config in FOLDERS:
            wanted = {**config, "path": config["path"].format(place=place)}
            answer = await tenant.http.post("/v1/sources", json={"name": "theirs", "config": wanted})
            assert answer.status_code == 422, answer.text
            assert "SOURCE_ROOTS" in answer.json()["detail"]
            assert str(stack.folder.path) not in answer.text
        assert (await tenant.http.get("/v1/documents")).json()["items"] == []
    own = await created(admin, "/v1/sources", {"name": "mine", "config": {"kind": "folder", "path": name}})
    async with asyncio.timeout(PATIENCE):
        while (last := (await admin.get(f"/v1/sources/{own['id']}")).json()["last_sync"])["status"] != "succeeded":
            assert last["status"] in {"queued", "running"}, last
            await asyncio.sleep(0.2)  # a synchronisation can only be polled
    assert last["added"] == 1
    await admin.delete(f"/v1/sources/{own['id']}")
