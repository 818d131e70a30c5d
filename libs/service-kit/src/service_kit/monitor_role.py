"""Creates the login of PostgreSQL's exporter, which sees statistics and settings, and no row of any table.

`python -m service_kit.monitor_role` reads DATABASE_URL, the login's, and ADMIN_DATABASE_URL. It is safe to repeat.
"""

from __future__ import annotations

import sys

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from service_kit.settings import MigrationSettings

MOST_CONNECTIONS = 5  # a scrape uses one or two; it must not take those of the services


def create_monitor_role(admin_url: str, login_url: str) -> None:
    """Creates the role, or gives it the password of `login_url`."""
    login = conninfo_to_dict(login_url)
    role = sql.Identifier(str(login["user"]))
    with psycopg.connect(admin_url, autocommit=True) as admin:
        if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (login["user"],)).fetchone() is None:
            admin.execute(sql.SQL("CREATE ROLE {}").format(role))
        admin.execute(
            sql.SQL(
                "ALTER ROLE {} WITH LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION"
                " CONNECTION LIMIT {} PASSWORD {}"
            ).format(role, sql.Literal(MOST_CONNECTIONS), sql.Literal(str(login["password"])))
        )
        admin.execute(sql.SQL("GRANT pg_monitor TO {}").format(role))


def main() -> int:
    settings = MigrationSettings()
    create_monitor_role(settings.admin_database_url.get_secret_value(), settings.database_url.get_secret_value())
    return 0


if __name__ == "__main__":
    sys.exit(main())
