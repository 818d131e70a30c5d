"""Repositories on PostgreSQL: statements of a file, rows as dataclasses, the workspace bound once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

import psycopg
import pytest

from service_kit.postgres import Database
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

TABLES = """
SET search_path = kit_repository, public;
CREATE TABLE book (workspace_id uuid, id int, title text NOT NULL, PRIMARY KEY (workspace_id, id));
SELECT protect_queue('book');
"""


class BookSql(Statements, file="books.sql", columns="id, title"):
    find: str
    page: str
    add: str
    rename: str
    count: str


@dataclass(frozen=True)
class Book:
    id: int
    title: str


class BookRow(NamedTuple):
    id: int
    title: str


class TitleFirst(NamedTuple):
    title: str
    id: int


class Books(Repository):
    async def find(self, book_id: int) -> Book | None:
        return await self.one(BookSql.find, Book, id=book_id)

    async def page(self) -> list[Book]:
        return await self.all(BookSql.page, Book)

    async def add(self, *books: Book) -> int:
        return await self.many(BookSql.add, [{"id": book.id, "title": book.title} for book in books])

    async def rename(self, title: str) -> int:
        return await self.run(BookSql.rename, title=title)


@pytest.fixture
async def database(make_database) -> AsyncIterator[Database]:
    urls = make_database("kit_repository")
    with psycopg.connect(urls.admin) as admin:
        admin.execute(TABLES)
    async with Database(urls.service, 2).opened() as opened:
        yield opened


async def test_a_repository_reads_and_writes_rows_in_its_workspace(database, workspace_id):
    async with database.workspace(workspace_id) as connection:
        books = Books(connection, workspace_id)
        assert await books.add(Book(1, "Emma"), Book(2, "Persuasion")) == 2
        assert await books.find(1) == Book(1, "Emma")
        assert await books.find(3) is None
        assert await books.page() == [Book(1, "Emma"), Book(2, "Persuasion")]
        assert await books.rename("Sanditon") == 2
        assert await books.value(BookSql.count) == 2
        assert await books.values(BookSql.page) == [1, 2]
        assert await books.value(BookSql.find, id=3) is None


async def test_columns_become_the_fields_of_their_names_whatever_their_order(database, workspace_id):
    async with database.workspace(workspace_id) as connection:
        books = Books(connection, workspace_id)
        await books.add(Book(1, "Emma"))
        found = [await books.one(BookSql.find, row_class, id=1) for row_class in (BookRow, TitleFirst)]
    assert found == [BookRow(1, "Emma"), TitleFirst("Emma", 1)]


async def test_a_system_repository_sees_all_workspaces(database):
    for workspace_id in (uuid4(), uuid4()):
        async with database.workspace(workspace_id) as connection:
            await Books(connection, workspace_id).add(Book(1, "Emma"))
    async with database.system() as connection:
        assert await SystemRepository(connection).value(BookSql.count) == 2
