from __future__ import annotations

import psycopg
import pytest

from service_kit.migrate import MigrationChanged, migrate


def test_migration_is_repeatable_and_the_role_is_bound_by_row_level_security(make_database):
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
