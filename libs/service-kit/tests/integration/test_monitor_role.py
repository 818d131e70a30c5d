from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
import pytest

from service_kit.monitor_role import create_monitor_role


@pytest.fixture
def monitor_url(make_database) -> str:
    """The URL of the exporter's login, beside a service with a schema of its own."""
    urls = make_database("kit_watched")
    parts = urlsplit(urls.admin)
    address = parts.netloc.rpartition("@")[2]
    url = parts._replace(netloc=f"attractor_monitor:first@{address}").geturl()
    create_monitor_role(urls.admin, url)
    create_monitor_role(urls.admin, url.replace(":first@", ":second@"))
    return url.replace(":first@", ":second@")


def test_the_exporter_sees_sessions_of_others_and_settings(monitor_url: str) -> None:
    with psycopg.connect(monitor_url) as connection:
        [(hidden,)] = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query = '<insufficient privilege>'"
        ).fetchall()
        assert hidden == 0
        assert connection.execute("SHOW data_directory").fetchone()


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM kit_watched.outbox", "DELETE FROM kit_watched.migration", "CREATE TABLE stolen ()"]
)
def test_the_exporter_reads_no_row_and_changes_nothing(monitor_url: str, statement: str) -> None:
    with psycopg.connect(monitor_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())
