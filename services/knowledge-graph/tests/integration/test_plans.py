"""A workspace created after the last ANALYZE is read as quickly as any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from knowledge_graph.expansion.provenance_reader import NameLookupSql
from knowledge_graph.recording.names import NameSql

ROWS = 3_000
FILL = {
    "name": """
        INSERT INTO name (workspace_id, id, hash, name_key, entity_id, own, evidence)
        SELECT %(workspace_id)s, 'e' || number, number, 'e' || number, 'e' || number, 1, 0
        FROM generate_series(1, %(rows)s) AS number""",
    "relation": """
        INSERT INTO relation (workspace_id, source_id, target_id, relation_type, weight, evidence)
        SELECT %(workspace_id)s, 'e' || number, 'e' || number %% 100, 'USES', 2, 1
        FROM generate_series(1, %(rows)s) AS number""",
    "relation_evidence": """
        INSERT INTO relation_evidence (workspace_id, document_id, number, source_id, target_id, relation_type, weight,
            confidence, chunk_id, span_start, span_end, source_name_id, target_name_id, method)
        SELECT %(workspace_id)s, gen_random_uuid(), 0, 'e' || number, 'e' || number %% 100, 'USES', 2, 1, 'c', 0, 0,
            'e' || number, 'e' || number %% 100, 'pattern'
        FROM generate_series(1, %(rows)s) AS number""",
}


@pytest.fixture
def connection(make_database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(make_database("knowledge_graph").admin) as connection:
        connection.execute("SET search_path = knowledge_graph, public")
        yield connection


def filled(connection: psycopg.Connection) -> UUID:
    workspace_id = uuid4()
    for statement in FILL.values():
        connection.execute(statement, {"workspace_id": workspace_id, "rows": ROWS})
    return workspace_id


def visited(plan: dict[str, Any]) -> float:
    """Returns the number of rows that the plan's scans and joins visited."""
    dropped = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    own = plan["Actual Loops"] * (plan["Actual Rows"] + dropped)
    return own + sum(visited(inner) for inner in plan.get("Plans", ()))


def test_workspace_columns_have_no_statistics(connection):
    kept = connection.execute("""
        SELECT relname FROM pg_attribute INNER JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'workspace_id' AND relnamespace = 'knowledge_graph'::regnamespace AND relkind = 'r'
            AND attstattarget IS DISTINCT FROM 0
    """).fetchall()
    assert kept == []


def test_evidence_in_a_new_workspace_is_not_scanned_repeatedly(connection):
    filled(connection)
    connection.execute("ANALYZE")
    values = {"workspace_id": filled(connection), "olds": [f"e{number}" for number in range(1, 40)]}
    statement = "EXPLAIN (ANALYZE, FORMAT JSON) " + NameSql.move_evidence
    (plan,) = connection.execute(statement, values).fetchone()
    assert visited(plan[0]["Plan"]) < 20 * ROWS


@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
def test_what_chunks_state_about_pairs_of_names_is_looked_up_pair_by_pair(connection, plans):
    workspace_id = filled(connection)
    connection.execute("ANALYZE")
    connection.execute("SELECT set_config('plan_cache_mode', %s, true)", (plans,))
    numbers = range(1, 100)
    values = {
        "workspace_id": workspace_id,
        "numbers": list(numbers),
        "sources": [f"e{number}" for number in numbers],
        "targets": [f"e{number % 100}" for number in numbers],
        "chunk_ids": ["c" for _ in numbers],
    }
    statement = "EXPLAIN (ANALYZE, FORMAT JSON) " + NameLookupSql.stated_between
    (plan,) = connection.execute(statement, values, prepare=True).fetchone()
    assert visited(plan[0]["Plan"]) < ROWS / 2
