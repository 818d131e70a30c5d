"""The statements of the lexical leg, on the connection of the search that it is part of."""

from __future__ import annotations

from typing import Any

from retrieval.search.reader import QUERIES, IndexReader


class Statements:
    """Reads one workspace, within one transaction."""

    def __init__(self, reader: IndexReader) -> None:
        self.connection, self.workspace_id = reader.connection, reader.workspace_id

    async def rows(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        cursor = await self.connection.execute(QUERIES[name], {"workspace_id": self.workspace_id, **values})
        return await cursor.fetchall()

    async def payloads(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        """The same in binary form, in which bytes are not written as hexadecimal digits."""
        async with self.connection.cursor(binary=True) as cursor:
            await cursor.execute(QUERIES[name], {"workspace_id": self.workspace_id, **values})
            return await cursor.fetchall()
