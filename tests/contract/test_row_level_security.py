"""A query without its filter sees nothing: every table of every service, in one database as deployed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from service_kit.migrate import migrate
from service_kit.workspace_purge import WorkspacePurgeSql

SERVICES = ("gateway", "ingestion", "knowledge_graph", "memory", "orchestrator", "retrieval")
OF_USERS = ("user_password", "password_link", "web_session", "sign_in_code", "user_identity", "openid_request")
OF_A_USER = "read before a workspace is known: open to the system scope alone"
WITHOUT_WORKSPACE = {
    **{f"{service}.migration": "of the deployment: services may only read it" for service in SERVICES},
    "gateway.app_user": "a user may be in many workspaces",
    "gateway.workspace": "the wall itself",
    **{f"gateway.{table}": OF_A_USER for table in OF_USERS},
    "gateway.backup": "told by whoever backs up, of the deployment: open to the system scope alone",
    "ingestion.worker": "processes of the deployment: open to the system scope alone",
}
THREAD = "LangGraph's statements name these columns; a thread's id is the id of a run, which no other has"
FIRST = "looked up before the workspace is known"
KEYS_WITHOUT_WORKSPACE = {
    **{f"{service}.outbox_pkey": "the order of publication, across workspaces" for service in SERVICES},
    **{f"orchestrator.{table}_pkey": THREAD for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes")},
    "gateway.api_key_authentication": FIRST,
    "gateway.invitation_acceptance": FIRST,
    "gateway.audit_entry_pkey": "a random id; the trail is read across workspaces, too",
}
SAMPLES = {
    "uuid": "00000000-0000-0000-0000-000000000001",
    "integer": "-1",
    "bigint": "1",
    "real": "1",
    "double precision": "1",
    "boolean": "true",
    "date": "2026-01-01",
    "timestamp with time zone": "2026-01-01",
    "jsonb": "{}",
    "text[]": "{}",
    "vector": "[1]",
    "halfvec": "[1]",
}
TABLES = """
    SELECT n.nspname, c.relname, c.relrowsecurity,
           EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace_id'),
           ARRAY(SELECT pg_get_expr(p.polqual, p.polrelid)
                 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive ORDER BY p.polname),
           ARRAY(SELECT pg_get_expr(p.polwithcheck, p.polrelid)
                 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive ORDER BY p.polname)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY(%s) ORDER BY 1, 2
"""
KEYS = """
    SELECT n.nspname || '.' || c.relname, pg_get_indexdef(i.indexrelid, 1, true)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'workspace_id'
    WHERE i.indisunique AND n.nspname = ANY(%s)
"""
COLUMNS_OF = """
    SELECT c.relname, array_agg(a.attname::text)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind IN ('r', 'p') AND n.nspname = %s AND a.attnum > 0 GROUP BY 1
"""
# Required columns, with a value that the enumeration or CHECK allows.
NEEDED_COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, NULL),
           coalesce((SELECT min(enumlabel) FROM pg_enum WHERE enumtypid = a.atttypid),
                    (SELECT min(substring(pg_get_constraintdef(k.oid) FROM '''([^'']*)'''))
                     FROM pg_constraint k
                     WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND a.attnum = ANY(k.conkey)))
    FROM pg_attribute a
    WHERE a.attrelid = %s::regclass AND a.attnum > 0
      AND (a.attname = 'workspace_id' OR a.attnotnull AND NOT a.atthasdef AND a.attidentity = '')
"""


@dataclass(frozen=True)
class Table:
    schema: str
    name: str
    protected: bool
    has_workspace: bool
    visible: list[str]
    writable: list[str]

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.name)


class Deployment:
    """All services' schemas in one database; `owner` is the administrator, `service` a service's role."""

    def __init__(self, admin_url: str) -> None:
        self.admin_url = admin_url
        for service in SERVICES:
            migrate(admin_url, self.url(service), service, service)
        self.owner = psycopg.connect(admin_url, autocommit=True)
        self.tables = [Table(*row) for row in self.owner.execute(TABLES, (list(SERVICES),)).fetchall()]

    def url(self, service: str) -> str:
        parts, role = urlsplit(self.admin_url), f"attractor_{service}"
        return urlunsplit(parts._replace(netloc=f"{role}:{quote(f'password-of-{role}')}@{parts.hostname}:{parts.port}"))

    @contextmanager
    def service(self, name: str, workspace_id: UUID | None = None) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            if workspace_id:
                connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            yield connection

    def insertion(self, table: Table, workspace_id: UUID) -> tuple[sql.Composed, list[Any]]:
        """Returns an INSERT of a row with everything that the table requires."""
        columns = self.owner.execute(NEEDED_COLUMNS, (str(table),)).fetchall()
        names = [sql.Identifier(name) for name, _, _ in columns]
        casts = [sql.SQL("%s::" + kind) for _, kind, _ in columns]
        values = [
            str(workspace_id)
            if name == "workspace_id"
            else choice or SAMPLES.get(kind, "{}" if kind.endswith("[]") else "x")
            for name, kind, choice in columns
        ]
        statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})")
        return statement.format(table.identifier, sql.SQL(", ").join(names), sql.SQL(", ").join(casts)), values

    def first_column(self, table: Table) -> sql.Identifier:
        return sql.Identifier(self.owner.execute(NEEDED_COLUMNS, (str(table),)).fetchall()[0][0])

    def fill(self, table: Table, workspace_id: UUID) -> None:
        """Inserts a row as the administrator, bypassing foreign keys and triggers."""
        with self.owner.transaction():
            self.owner.execute("SET LOCAL session_replication_role = replica")
            self.owner.execute(*self.insertion(table, workspace_id))


def _sample(kind: str) -> str:
    return SAMPLES.get(kind, "{}" if kind.endswith("[]") else "x")


@pytest.fixture
def deployment(make_database: Callable[[str], Any]) -> Iterator[Deployment]:
    deployment = Deployment(make_database(SERVICES[0]).admin)
    yield deployment
    deployment.owner.close()


def count(connection: psycopg.Connection, table: Table) -> int:
    [number] = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table.identifier)).fetchone() or [-1]
    return int(number)


def test_every_table_is_protected_or_explicitly_exempt(deployment: Deployment) -> None:
    assert {table.schema for table in deployment.tables} == set(SERVICES)
    assert {str(table) for table in deployment.tables if not table.has_workspace} == set(WITHOUT_WORKSPACE)
    for table in (table for table in deployment.tables if table.has_workspace):
        own = "(workspace_id = "
        assert table.protected, table
        assert any(condition.startswith(own) and "current_workspace()" in condition for condition in table.visible)
        assert table.visible == table.writable, table
        others = [condition for condition in table.visible if not condition.startswith(own)]
        assert all("is_system()" in condition for condition in others), table


def test_every_key_begins_with_the_workspace_or_has_a_reason_not_to(deployment: Deployment) -> None:
    """Also holds that no workspace can find out, by a conflict, what another one has."""
    keys = dict(deployment.owner.execute(KEYS, (list(SERVICES),)).fetchall())
    assert len(keys) > len(deployment.tables) / 2
    assert {key for key, first in keys.items() if first != "workspace_id"} == set(KEYS_WITHOUT_WORKSPACE)


def test_a_query_without_a_filter_reads_and_changes_no_row_of_another_workspace(deployment: Deployment) -> None:
    mine, other = uuid4(), uuid4()
    for table in deployment.tables:
        if not table.protected:
            continue
        deployment.fill(table, other)
        update = sql.SQL("UPDATE {0} SET {1} = {1}").format(table.identifier, deployment.first_column(table))
        with deployment.service(table.schema) as forgetful:
            assert (count(forgetful, table), forgetful.execute(update).rowcount) == (0, 0), table
            assert forgetful.execute(sql.SQL("DELETE FROM {}").format(table.identifier)).rowcount == 0, table
        with deployment.service(table.schema, mine) as stranger:
            assert (count(stranger, table), stranger.execute(update).rowcount) == (0, 0), table
        with deployment.service(table.schema, other) as owner:
            assert count(owner, table) == table.has_workspace, table
        assert count(deployment.owner, table) >= 1, table


def test_a_transaction_for_a_user_reads_and_writes_no_row_of_another_user(deployment: Deployment) -> None:
    """Covers the second policy in memory's schema, which separates users in each table with a user column."""
    columns = {
        table: [name for name in ("owner_id", "user_id", "created_by") if name in columns]
        for table, columns in deployment.owner.execute(COLUMNS_OF, ("memory",)).fetchall()
    }
    owned = {table: names[0] for table, names in columns.items() if names}
    assert {"memory", "world", "world_event"} <= owned.keys()
    for table in (table for table in deployment.tables if table.schema == "memory" and table.name in owned):
        workspace, owner, stranger = uuid4(), uuid4(), uuid4()
        deployment.fill(table, workspace)
        named = sql.SQL("UPDATE {} SET {} = %s WHERE workspace_id = %s").format(
            table.identifier, sql.Identifier(owned[table.name])
        )
        with deployment.owner.transaction():
            deployment.owner.execute("SET LOCAL session_replication_role = replica")
            deployment.owner.execute(named, (owner, workspace))
        with deployment.service("memory", workspace) as connection:
            for user, seen in ((owner, 1), (stranger, 0)):
                connection.execute("SELECT set_config('app.user_id', %s, false)", (str(user),))
                assert count(connection, table) == seen, table
            connection.execute("SELECT set_config('app.user_id', %s, false)", (str(owner),))
            with pytest.raises(InsufficientPrivilege, match=r"violates row-level security policy|append-only"):
                connection.execute(named, (stranger, workspace))


def test_no_row_can_be_inserted_or_moved_into_another_workspace(deployment: Deployment) -> None:
    for table in (table for table in deployment.tables if table.has_workspace):
        mine, other = uuid4(), uuid4()
        deployment.fill(table, mine)
        move = sql.SQL("UPDATE {} SET workspace_id = %s").format(table.identifier)
        with deployment.service(table.schema, mine) as connection:
            for statement, values in (deployment.insertion(table, other), (move, [other])):
                with pytest.raises(InsufficientPrivilege, match=r"violates row-level security policy|append-only"):
                    connection.execute(statement, values)


def test_no_row_can_be_inserted_into_a_deleted_workspace(deployment: Deployment) -> None:
    """Exempts the outbox, through which the purge reports, and the marker itself."""
    gone = uuid4()
    tombstones = [table for table in deployment.tables if table.name == "deleted_workspace"]
    assert {table.schema for table in tombstones} == set(SERVICES)
    for tombstone in tombstones:
        deployment.fill(tombstone, gone)
    spared = {"deleted_workspace", "outbox"}
    for table in (table for table in deployment.tables if table.has_workspace and table.name not in spared):
        statement, values = deployment.insertion(table, gone)
        with (
            deployment.service(table.schema, gone) as connection,
            pytest.raises(psycopg.DatabaseError, match="is deleted"),
        ):
            connection.execute(statement, values)
        if any("is_system()" in condition for condition in table.visible):
            with deployment.service(table.schema) as system:
                system.execute("SELECT set_config('app.scope', 'system', false)")
                with pytest.raises(psycopg.DatabaseError, match="is deleted"):
                    system.execute(statement, values)


def test_every_table_of_a_service_is_purged_with_its_workspace(deployment: Deployment) -> None:
    """Checks that the purge finds tables by their column, in an order that foreign keys allow."""
    for service in SERVICES:
        with deployment.service(service) as connection:
            found = connection.execute(WorkspacePurgeSql.tables.encode()).fetchall()
        purged = {table for table, _ in found}
        held = {table.name for table in deployment.tables if table.schema == service and table.has_workspace}
        assert purged == held - {"deleted_workspace"}
        list(TopologicalSorter({table: set(others) for table, others in found}).static_order())


def test_a_service_cannot_disable_row_level_security(deployment: Deployment) -> None:
    ways = (
        "ALTER TABLE {0} DISABLE ROW LEVEL SECURITY",
        "DROP POLICY {1} ON {0}",
        "CREATE POLICY hole ON {0} USING (true)",
        "TRUNCATE {0}",  # row-level security does not apply to it
        "SET row_security = off; SELECT * FROM {0}",
    )
    for table in (table for table in deployment.tables if table.protected):
        policy = sql.Identifier("workspace" if table.has_workspace else "system")
        for way in ways:
            with deployment.service(table.schema) as connection, pytest.raises(InsufficientPrivilege):
                connection.execute(sql.SQL(way).format(table.identifier, policy))


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_cannot_access_other_schemas_and_roles(deployment: Deployment, service: str) -> None:
    beyond = [table for table in deployment.tables if table.schema != service]
    with deployment.service(service) as connection:
        for table in beyond:
            with pytest.raises(InsufficientPrivilege):
                count(connection, table)
        for statement in (
            "SET ROLE postgres",
            "CREATE ROLE more",
            "CREATE TABLE public.shared (id integer)",
            "INSERT INTO migration VALUES ('later', '')",
            "UPDATE migration SET requires = NULL",
            "DELETE FROM migration",
        ):
            with pytest.raises(psycopg.Error, match=r"permission denied|must be"):
                connection.execute(statement)
