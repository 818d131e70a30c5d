"""The schemas of all services, migrated by the launcher."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from embedded.data_folder import DataFolder
from embedded.engines import Engines
from embedded.errors import MigrationFailed
from embedded.launcher import migrate_all
from embedded.topology import SERVICES, Site


def test_each_service_finds_its_schema_and_a_migration_that_fails_is_a_one_line_error(tmp_path: Path) -> None:
    with Engines.temporary() as engines:
        ports = dict.fromkeys(SERVICES, 1)
        site = Site(tmp_path, {}, engines, DataFolder(tmp_path).credentials, "127.0.0.1", ports, {})
        migrate_all(site)
        migrate_all(site)  # as at the next start
        for service in SERVICES:
            admin, own = site.database_urls(service)
            with psycopg.connect(own) as connection:
                assert connection.execute("SELECT count(*) > 1 FROM migration").fetchone() == (True,)
        with psycopg.connect(admin) as connection:
            connection.execute("UPDATE memory.migration SET sha256 = 'other'")
        with pytest.raises(MigrationFailed, match=r"^the migration of memory failed: .* write a new one instead$"):
            migrate_all(site)
