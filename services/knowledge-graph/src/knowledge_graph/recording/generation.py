"""The state of a workspace's graph in one word: who keeps answers made from it finds none that is out of date."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from uuid import UUID

from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection, Database


async def raise_generation(connection: Connection, workspace_id: UUID) -> None:
    """In the transaction of a change."""
    await connection.execute(QUERIES["raise_generation"], {"workspace_id": workspace_id})


class Generations:
    """`settings` are those that answers depend on; the code counts as well."""

    def __init__(self, database: Database, settings: str) -> None:
        digest = hashlib.sha256(settings.encode())
        for name, content in sorted(_files(resources.files("knowledge_graph"), "")):
            digest.update(f"\n{name}\n".encode() + content)
        self.database, self.version = database, digest.hexdigest()[:16]

    async def of(self, workspace_id: UUID) -> str:
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(QUERIES["generation"], {"workspace_id": workspace_id})
            generation, changed_by = await cursor.fetchone() or (0, "")
        return f"{self.version}.{generation}.{changed_by}"


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir() and one.name != "__pycache__":
            yield from _files(one, f"{path}/{one.name}")
        elif one.is_file():
            yield f"{path}/{one.name}", one.read_bytes()
