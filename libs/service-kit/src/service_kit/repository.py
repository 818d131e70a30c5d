"""Typed repositories: a class per noun, bound to a transaction and its workspace, over the statements of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import RowMaker, TupleRow, class_row

from service_kit.auth import Principal
from service_kit.postgres import Connection

Row = TypeVar("Row")


def row_of(row_class: type[Row]) -> Callable[[AsyncCursor[Any]], RowMaker[Row]]:
    """Returns a row factory. A NamedTuple whose fields are the columns in order is made in a third of the time that a
    dataclass takes, so the rows of frequent statements are such.
    """
    fields: Sequence[str] | None = getattr(row_class, "_fields", None)
    if fields is None:
        return class_row(row_class)
    make: RowMaker[Row] = row_class._make  # type: ignore[attr-defined]  # it is a NamedTuple

    def maker(cursor: AsyncCursor[Any]) -> RowMaker[Row]:
        columns = tuple(column.name for column in cursor.description or ())
        return make if columns == fields else class_row(row_class)(cursor)

    return maker


class SystemRepository:
    """Runs statements over the work queues of all workspaces, in a transaction of `Database.system`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.bound: Mapping[str, object] = {}

    async def one(self, sql: str, row_class: type[Row], /, **parameters: object) -> Row | None:
        """Returns the first row, or None."""
        async with self.connection.cursor(row_factory=row_of(row_class)) as cursor:
            return await (await cursor.execute(sql.encode(), {**self.bound, **parameters})).fetchone()

    async def all(self, sql: str, row_class: type[Row], /, **parameters: object) -> list[Row]:
        """Returns every row."""
        async with self.connection.cursor(row_factory=row_of(row_class)) as cursor:
            return await (await cursor.execute(sql.encode(), {**self.bound, **parameters})).fetchall()

    async def value(self, sql: str, /, **parameters: object) -> Any:
        """Returns the first column of the first row, or None if there is no row."""
        row = await (await self._execute(sql, parameters)).fetchone()
        return row[0] if row else None

    async def values(self, sql: str, /, **parameters: object) -> list[Any]:
        """Returns the first column of every row."""
        return [row[0] for row in await (await self._execute(sql, parameters)).fetchall()]

    async def run(self, sql: str, /, **parameters: object) -> int:
        """Returns how many rows the statement changed."""
        return (await self._execute(sql, parameters)).rowcount

    async def many(self, sql: str, each: Iterable[Mapping[str, object]], /) -> int:
        """Runs the statement once for each set of parameters, in one batch; returns how many rows it changed."""
        async with self.connection.cursor() as cursor:
            await cursor.executemany(sql.encode(), [{**self.bound, **parameters} for parameters in each])
            return cursor.rowcount

    async def firsts(self, sql: str, row_class: type[Row], each: Iterable[Mapping[str, object]], /) -> list[Row]:
        """Runs the statement once for each set of parameters, in one batch; returns the first row of each."""
        found: list[Row] = []
        async with self.connection.cursor(row_factory=row_of(row_class)) as cursor:
            await cursor.executemany(sql.encode(), [{**self.bound, **one} for one in each], returning=True)
            has_result = cursor.description is not None
            while has_result:
                found += (await cursor.fetchall())[:1]
                has_result = bool(cursor.nextset())
        return found

    async def _execute(self, sql: str, parameters: Mapping[str, object]) -> AsyncCursor[TupleRow]:
        return await self.connection.execute(sql.encode(), {**self.bound, **parameters})


class Repository(SystemRepository):
    """Runs statements on one workspace, in a transaction of `Database.workspace`.

    `workspace_id` is a parameter of every statement.
    """

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        super().__init__(connection)
        self.workspace_id = workspace_id
        self.bound = {"workspace_id": workspace_id}


class CallerRepository(Repository):
    """Runs statements on the rows of the calling user in one workspace: `user_id` is a parameter of every statement."""

    def __init__(self, connection: Connection, caller: Principal) -> None:
        super().__init__(connection, caller.workspace_id)
        self.caller = caller
        self.bound = {**self.bound, "user_id": caller.user_id}
