"""What backups need of the server: a role, summaries of its log, and a limit to the log that it keeps."""

from __future__ import annotations

import psycopg
from psycopg import sql

ROLE = "attractor_backup"  # may replicate, read, and record that a backup was taken
SETTINGS = {
    "summarize_wal": "on",  # for incremental backups
    "max_slot_wal_keep_size": "4GB",  # for a disconnected log receiver; beyond it, a new log starts
}


def prepare_server(admin: psycopg.Connection, password: str) -> None:
    """Creates or updates the role, and sets what backups need; nothing has to be restarted.

    The role counts rows past row-level security, because whoever may replicate can read everything anyway.
    """
    name = sql.Identifier(ROLE)
    if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is None:
        admin.execute(sql.SQL("CREATE ROLE {}").format(name))
    admin.execute(
        sql.SQL(
            "ALTER ROLE {} WITH LOGIN REPLICATION BYPASSRLS NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}"
        ).format(name, sql.Literal(password))
    )
    admin.execute(sql.SQL("GRANT pg_read_all_data TO {}").format(name))
    if has_table_of_backups(admin):
        admin.execute(sql.SQL("GRANT USAGE ON SCHEMA gateway TO {}").format(name))
        admin.execute(sql.SQL("GRANT INSERT ON gateway.backup TO {}").format(name))
    for setting, value in SETTINGS.items():
        admin.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(setting), sql.Literal(value)))
    admin.execute("SELECT pg_reload_conf()")


def has_table_of_backups(connection: psycopg.Connection) -> bool:
    """Returns whether the gateway has a table for the age of the last backup; data of an older version has none."""
    return (connection.execute("SELECT to_regclass('gateway.backup')").fetchone() or [None])[0] is not None
