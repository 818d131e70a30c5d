"""A service whose schema does not fit its version does not start, and says why in one line."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from embedded.credentials import Credentials
from embedded.processes.child import Command
from embedded.topology import OBSERVED, PROCESSES, SERVICES, Process, Site
from service_kit.command import SCHEMA_UNFIT
from service_kit.migrate import migrations

REMOVES = re.compile(
    r"^\s*(ALTER TABLE[^;]*\b(DROP COLUMN|RENAME|TYPE|SET NOT NULL)\b"
    r"|ALTER (FUNCTION|SEQUENCE|TYPE|VIEW)[^;]*\bRENAME\b|DROP (FUNCTION|SCHEMA|SEQUENCE|TABLE|TYPE|VIEW)\b)",
    re.MULTILINE,
)
# Migrations from before there was a way to say so
BEFORE = {
    "gateway/0004_creates_by_id.sql",
    "ingestion/0002_sources_and_versions.sql",
    "ingestion/0011_shared_places.sql",
    "ingestion/0008_leased_synchronisations.sql",
    "ingestion/0012_leased_stages.sql",
    "knowledge_graph/0003_resolution.sql",
    "knowledge_graph/0012_one_switch_for_refinement.sql",
    "knowledge_graph/0013_projection_version.sql",
    "memory/0003_messages_and_facts.sql",
    "orchestrator/0003_work.sql",
    "retrieval/0003_postings_in_blocks.sql",
    "retrieval/0010_narrow_chunks.sql",
    "retrieval/0014_fewer_settings.sql",
    "retrieval/0015_leased_work.sql",
}


def serving(process: Process, database_url: str, folder: Path) -> Command:
    """Returns what the embedded stack starts, without any other engine."""
    engines: Any = SimpleNamespace(
        object_store=SimpleNamespace(endpoint="localhost:1", access_key="a", secret_key="s", bucket="b"),
        redis_url=lambda user: f"redis://{user}:x@localhost:1",
        database_url=lambda _role, _password: database_url,
    )
    ports, private = dict.fromkeys(SERVICES, 1), dict.fromkeys(OBSERVED, 1)
    site = Site(folder, {}, engines, Credentials(folder / "credentials"), "127.0.0.1", ports, private)
    return site.serve(process)


def start(process: Process, database_url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Starts the process and returns when it has ended."""
    command = serving(process, database_url, folder)
    return subprocess.run(command.argv, env=dict(command.env), cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_no_process_starts_before_its_migrations(
    process: Process, make_database: Callable[[str], Any], tmp_path: Path
) -> None:
    urls, newest = make_database(process.module), max(name for name, _ in migrations(process.module))
    with psycopg.connect(urls.admin) as connection:
        connection.execute(f"DELETE FROM {process.module}.migration WHERE name = '{newest}'".encode())
    ended = start(process, urls.service, tmp_path)
    first = f"run `python -m {process.module} migrate` of this version first"
    assert ended.stderr == f"{process.module}: the schema lacks {newest}: {first}\n"
    assert ended.returncode == SCHEMA_UNFIT


def test_a_destructive_migration_states_which_code_is_compatible_with_it() -> None:
    texts = {name: text for part in ("service_kit", *SERVICES) for name, text in migrations(part.replace("-", "_"))}
    removing = {name for name, text in texts.items() if REMOVES.search(text)}
    required = {name: re.findall(r"^-- requires: (.*)$", text, re.MULTILINE) for name, text in texts.items()}
    assert {name for name in removing if not required[name]} == BEFORE
    assert {one for names in required.values() for one in names} <= texts.keys()


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE memory\n    RENAME COLUMN content TO text;",
        "ALTER TABLE memory RENAME TO remembered;",
        "ALTER TABLE memory ADD COLUMN a int, DROP COLUMN b;",
        "ALTER TABLE memory ALTER COLUMN a TYPE bigint;",
        "ALTER TABLE memory ALTER COLUMN a SET NOT NULL;",
        "DROP TABLE memory;",
        "DROP FUNCTION remembered();",
    ],
)
def test_whatever_takes_something_from_the_previous_version_counts_as_destructive(statement: str) -> None:
    assert REMOVES.search(f"-- A comment.\n{statement}")
    assert not REMOVES.search("ALTER TABLE memory ADD COLUMN a int;\nDROP INDEX memory_run;")


def test_no_migration_waits_longer_for_a_lock_than_its_runner_allows() -> None:
    """Checks that none lifts the limit that `service_kit.migrate` sets for each."""
    texts = {name: text for part in ("service_kit", *SERVICES) for name, text in migrations(part.replace("-", "_"))}
    limits = {(name, found) for name, text in texts.items() for found in re.findall(r"lock_timeout\W+(\w+)", text)}
    assert {found for _, found in limits} <= {"2s"}, limits
