"""The workspace of an evaluation: the key's own, a named one, or one made for this run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from attractor_client.client import AttractorClient
from attractor_client.errors import AttractorError, NotFound
from contracts.gateway import Role, Workspace

KEY_NAME = "attractor eval"
DELETION_SECONDS = 60.0


@dataclass(frozen=True)
class Opened:
    """`client` acts in the workspace; `created` if it did not exist before."""

    client: AttractorClient
    workspace: Workspace
    created: bool


@asynccontextmanager
async def opened(
    client: AttractorClient, name: str | None, *, make: bool = False, fresh: bool = False, keep: bool = False
) -> AsyncIterator[Opened]:
    """Opens the workspace with this name or id; without a name, the one of the client's own key.

    Raises NotFound if there is none; with `make` it is created instead. A `fresh` one is always created, and deleted at
    the end unless `keep`. Any workspace but the key's own is accessed with a temporary key, which is revoked at the
    end; this requires one of its owners, and creating a workspace an administrator.
    """
    own = (await client.accounts.me()).workspace
    if name is None or (not fresh and name in (own.name, str(own.id))):
        yield Opened(client, own, created=False)
        return
    found = None if fresh else await _named(client, name)
    if not (found or make or fresh):
        raise NotFound(f"No workspace {name!r} is visible to this key")
    workspace = found or await client.accounts.create_workspace(name)
    try:
        async with _entered(client, workspace) as inside:
            yield Opened(inside, workspace, created=found is None)
    finally:
        if fresh and not keep:
            await client.accounts.delete_workspace(workspace, DELETION_SECONDS)


async def _named(client: AttractorClient, name: str) -> Workspace | None:
    found = [one async for one in client.accounts.workspaces() if name in (one.name, str(one.id))]
    if len(found) > 1:
        raise AttractorError(f"{len(found)} workspaces are called {name!r}", "give an id: attractor workspaces list")
    return found[0] if found else None


@asynccontextmanager
async def _entered(client: AttractorClient, workspace: Workspace) -> AsyncIterator[AttractorClient]:
    key = await client.accounts.create_key(workspace.id, KEY_NAME, role=Role.editor)
    transport = client.transport
    try:
        async with AttractorClient(
            str(transport.url), key.key, timeout=transport.timeout, retry=transport.retry
        ) as inside:
            yield inside
    finally:
        await client.accounts.revoke_key(workspace.id, key.id)
