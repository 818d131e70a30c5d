from __future__ import annotations

import psycopg
import pytest

from service_kit.migrate import MigrationChanged, migrate, migrations


def test_migration_is_repeatable_and_the_role_is_subject_to_row_level_security(make_database):
    urls = make_database("kit_a")
    assert migrate(urls.admin, urls.service, "kit_a", "contracts") == []
    with psycopg.connect(urls.service) as connection:
        assert connection.execute("SHOW search_path").fetchone() == ("kit_a, public",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE stolen (id int)")


def test_a_changed_migration_is_refused(make_database):
    urls = make_database("kit_b")
    with psycopg.connect(urls.admin) as connection:
        connection.execute("UPDATE kit_b.migration SET sha256 = 'other'")
    with pytest.raises(MigrationChanged, match="already applied"):
        migrate(urls.admin, urls.service, "kit_b", "contracts")


@pytest.mark.parametrize("hours", [0, 1])
def test_only_an_upgraded_service_accepts_unsigned_events_and_only_for_an_hour(make_database, monkeypatch, hours):
    urls, signed = make_database("kit_c"), "service_kit/0004_signed_events.sql"

    def before(package: str):
        return ((name, text) for name, text in migrations(package) if name != signed)

    with psycopg.connect(urls.admin) as connection:
        connection.execute("DROP SCHEMA kit_c CASCADE")
    if hours:
        with monkeypatch.context() as patch:
            patch.setattr("service_kit.migrate.migrations", before)
            migrate(urls.admin, urls.service, "kit_c", "memory")
    assert signed in migrate(urls.admin, urls.service, "kit_c", "memory")
    with psycopg.connect(urls.service) as connection:
        row = connection.execute(
            "SELECT unsigned_until() > now(), unsigned_until() <= now() + make_interval(hours => %s)", (hours,)
        ).fetchone()
    assert row == (hours > 0, True)
