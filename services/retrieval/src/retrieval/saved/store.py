"""Every statement about saved searches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4, uuid5

from psycopg.errors import UniqueViolation
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from contracts.base import Page
from contracts.retrieval import SavedSearch, SavedSearchCreate, SavedSearchUpdate, SearchRequest
from retrieval.errors import SavedSearchNameTaken, SavedSearchNotFound
from service_kit.auth import Principal
from service_kit.pagination import decode_cursor, encode_cursor
from service_kit.postgres import Connection, Database
from service_kit.problems import PreconditionFailed
from service_kit.queries import load


class SavedSearches:
    """They belong to the workspace: whoever may read it sees them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.sql = load("retrieval")

    async def create(self, caller: Principal, asked: SavedSearchCreate, key: str | None) -> SavedSearch:
        """The one that the caller's `key` made before, where there is one. Raises SavedSearchNameTaken."""
        place = caller.workspace_id
        saved_id = uuid5(place, f"saved-search/{caller.user_id}/{key}") if key else uuid4()
        of = {"workspace_id": place, "id": saved_id, "user_id": caller.user_id}
        values = of | {"name": asked.name, "request": _kept(asked.request)}
        with _names(asked.name):
            async with self.database.workspace(place) as connection:
                await connection.execute(self.sql["add_saved_search"], values)
                return await self._get(connection, place, saved_id)

    async def get(self, workspace_id: UUID, saved_id: UUID) -> SavedSearch:
        """Raises SavedSearchNotFound."""
        async with self.database.workspace(workspace_id) as connection:
            return await self._get(connection, workspace_id, saved_id)

    async def page(self, workspace_id: UUID, limit: int, cursor: str | None) -> Page[SavedSearch]:
        """Newest first. Raises BadCursor."""
        before_at, before_id = decode_cursor(cursor)
        values = {"workspace_id": workspace_id, "before_at": before_at, "before_id": before_id, "limit": limit + 1}
        async with self.database.workspace(workspace_id) as connection:
            rows = connection.cursor(row_factory=class_row(SavedSearch))
            await rows.execute(self.sql["saved_searches"], values)
            found = await rows.fetchall()
        more = encode_cursor(found[limit - 1].created_at, found[limit - 1].id) if len(found) > limit else None
        return Page(items=found[:limit], next_cursor=more)

    async def change(
        self, workspace_id: UUID, saved_id: UUID, asked: SavedSearchUpdate, version: int | None
    ) -> SavedSearch:
        """Raises SavedSearchNotFound, SavedSearchNameTaken, PreconditionFailed."""
        request = _kept(asked.request) if asked.request else None
        values = {"workspace_id": workspace_id, "id": saved_id, "version": version}
        with _names(asked.name):
            async with self.database.workspace(workspace_id) as connection:
                cursor = connection.cursor(row_factory=class_row(SavedSearch))
                await cursor.execute(self.sql["change_saved_search"], values | {"name": asked.name, "request": request})
                return await cursor.fetchone() or await self._refuse(connection, workspace_id, saved_id)

    async def delete(self, workspace_id: UUID, saved_id: UUID, version: int | None) -> None:
        """Raises SavedSearchNotFound, PreconditionFailed."""
        values = {"workspace_id": workspace_id, "id": saved_id, "version": version}
        async with self.database.workspace(workspace_id) as connection:
            if (await connection.execute(self.sql["remove_saved_search"], values)).rowcount == 0:
                await self._refuse(connection, workspace_id, saved_id)

    async def _get(self, connection: Connection, workspace_id: UUID, saved_id: UUID) -> SavedSearch:
        cursor = connection.cursor(row_factory=class_row(SavedSearch))
        await cursor.execute(self.sql["saved_search"], {"workspace_id": workspace_id, "id": saved_id})
        saved = await cursor.fetchone()
        if saved is None:
            raise SavedSearchNotFound
        return saved

    async def _refuse(self, connection: Connection, workspace_id: UUID, saved_id: UUID) -> SavedSearch:
        """Nothing was changed: because it is not there, or because it has another version by now."""
        saved = await self._get(connection, workspace_id, saved_id)
        raise PreconditionFailed(f"the saved search has version {saved.version} by now")


def _kept(request: SearchRequest) -> Jsonb:
    """What the request names; what it leaves out follows the defaults of the day it is run."""
    return Jsonb(request.model_dump(mode="json", exclude_unset=True))


@contextmanager
def _names(name: str | None) -> Iterator[None]:
    try:
        yield
    except UniqueViolation as error:
        raise SavedSearchNameTaken(f"a saved search is named {name!r} already") from error
