"""The tables of checkpoints: those that LangGraph expects, each row in the workspace of its run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

from orchestrator import checkpoints
from service_kit.migrate import migrate
from service_kit.problems import WorkspaceGone

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
MIGRATION = "orchestrator/0063_workspace_of_checkpoints.sql"
COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema = %s AND table_name = ANY(%s) AND column_name <> 'workspace_id'
"""
KEYS = """
    SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = %s::regnamespace AND contype = 'p' AND conrelid::regclass::text LIKE '%%checkpoint%%'
"""
RUN = """
    INSERT INTO session (workspace_id, id, created_by, title) VALUES (%(workspace)s, %(run)s, %(run)s, 't');
    INSERT INTO run (workspace_id, id, session_id, created_by, role, attempts_left)
    VALUES (%(workspace)s, %(run)s, %(run)s, %(run)s, 'owner', 1);
"""


def thread(run_id: UUID) -> Any:
    return {"configurable": {"thread_id": str(run_id), "checkpoint_ns": ""}}


@pytest.fixture
def urls(make_database: Callable[[str], Any]) -> Any:
    return make_database("orchestrator")


@pytest.fixture
def owner(urls: Any) -> Iterator[psycopg.Connection]:
    with psycopg.connect(urls.admin, autocommit=True) as connection:
        connection.execute("SET search_path = orchestrator, public")
        yield connection


def as_the_library_makes_them(connection: psycopg.Connection) -> None:
    for statement in PostgresSaver.MIGRATIONS:
        connection.execute(statement.encode())


def as_before(owner: psycopg.Connection) -> None:
    """Takes the tables back to what they were before the migration."""
    owner.execute(f"DROP TABLE {', '.join(TABLES)}".encode())
    owner.execute("DROP FUNCTION workspace_of_thread")
    owner.execute("DELETE FROM migration WHERE name = %s", (MIGRATION,))
    as_the_library_makes_them(owner)
    for table in TABLES:
        owner.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY".encode())
        owner.execute(f"CREATE POLICY system ON {table} USING (is_system()) WITH CHECK (is_system())".encode())


def write_as_before(connection: psycopg.Connection, run_id: UUID) -> None:
    """Writes a checkpoint as the version before did, in the system scope."""
    connection.execute("SET app.scope = 'system'")
    values = (str(run_id), "", "1", None, "{}", "{}")
    connection.execute(PostgresSaver.UPSERT_CHECKPOINTS_SQL.encode(), values)
    blob = (str(run_id), "", "passages", "1", "msgpack", b"x")
    connection.execute(PostgresSaver.UPSERT_CHECKPOINT_BLOBS_SQL.encode(), blob)


def test_the_tables_are_those_that_the_library_expects(owner: psycopg.Connection) -> None:
    owner.execute("CREATE SCHEMA library")
    ours = [owner.execute(query, values).fetchall() for query, values in described("orchestrator")]
    owner.execute("SET search_path = library, public")
    as_the_library_makes_them(owner)
    theirs = [owner.execute(query, values).fetchall() for query, values in described("library")]
    for mine, other in zip(ours, theirs, strict=True):
        assert sorted(mine) == sorted(row for row in other if row[0] != "checkpoint_migrations")


def described(schema: str) -> list[tuple[bytes, tuple[Any, ...]]]:
    return [(COLUMNS.encode(), (schema, list(TABLES))), (KEYS.encode(), (schema,))]


def test_rows_of_the_version_before_get_the_workspace_of_their_run(owner: psycopg.Connection, urls: Any) -> None:
    workspace, kept, gone, later = (uuid4() for _ in range(4))
    as_before(owner)
    for run_id in (kept, later):
        for statement in RUN.split(";")[:-1]:
            owner.execute(statement.encode(), {"workspace": workspace, "run": run_id})
    with psycopg.connect(urls.service, autocommit=True) as earlier:
        write_as_before(earlier, kept)
        write_as_before(earlier, gone)
        assert migrate(urls.admin, urls.service, "orchestrator", "orchestrator") == [MIGRATION]
        write_as_before(earlier, later)  # its processes are replaced one by one
        with pytest.raises(psycopg.errors.CheckViolation):
            write_as_before(earlier, gone)
    for table in TABLES[:2]:
        rows = owner.execute(f"SELECT thread_id, workspace_id FROM {table}".encode()).fetchall()
        assert set(rows) == {(str(kept), workspace), (str(later), workspace)}


async def test_another_workspace_reads_and_changes_no_checkpoint(urls: Any) -> None:
    mine, other, run_id = uuid4(), uuid4(), uuid4()
    async with checkpoints.opened(urls.service, 1) as saved:
        saver, stranger = saved.saver(mine), saved.saver(other)
        await saver.aput(thread(run_id), empty_checkpoint(), {"source": "loop", "step": 1}, {})
        assert await stranger.aget(thread(run_id)) is None
        await stranger.adelete_thread(str(run_id))
        assert await saver.aget(thread(run_id)) is not None


async def test_a_deleted_workspace_gets_no_checkpoint(urls: Any) -> None:
    workspace = uuid4()

    def delete() -> None:
        with psycopg.connect(urls.service, autocommit=True) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace),))
            connection.execute("SELECT delete_workspace(%s)", (workspace,))

    await asyncio.to_thread(delete)
    async with checkpoints.opened(urls.service, 1) as saved:
        with pytest.raises(WorkspaceGone):
            await saved.saver(workspace).aput(thread(uuid4()), empty_checkpoint(), {"source": "loop", "step": 1}, {})
