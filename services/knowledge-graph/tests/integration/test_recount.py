"""`verify` counts entities and relations from the provenance, and corrects differences."""

from __future__ import annotations

from uuid import uuid4

import pytest

from knowledge_graph.neo4j.maintenance import corrected, verify_sums
from knowledge_graph.recording.recount import wrong_sums
from service_kit.postgres import Database

TEXTS = ["CheckoutService depends on PaymentGateway.", "PaymentGateway uses LedgerDB.", "LedgerDB is old."]
DAMAGE = [
    "UPDATE entity SET mentions = mentions + 3 WHERE name = 'LedgerDB'",
    "UPDATE entity SET documents = 9 WHERE name = 'CheckoutService'",
    "DELETE FROM entity WHERE name = 'PaymentGateway'",
    "UPDATE entity SET outgoing = 7",
    "UPDATE relation SET weight = weight * 2, evidence = evidence + 1",
    "DELETE FROM relation WHERE relation_type = 'USES'",
    "INSERT INTO relation SELECT workspace_id, target_id, source_id, 'GHOST', 1, 1 FROM relation LIMIT 1",
    "INSERT INTO entity SELECT workspace_id, 'ghost', 'ghost', 'Ghost', 'ENTITY', 1, 1, '{}' FROM entity LIMIT 1",
]
STATE = {
    "entity": "SELECT id, name, entity_type, mentions, documents, aliases, outgoing, incoming FROM entity ORDER BY id",
    "relation": "SELECT source_id, target_id, relation_type, weight, evidence FROM relation ORDER BY 1, 2, 3",
}


@pytest.fixture
async def database(client):
    async with Database(client.database_url, 2).opened() as database:
        yield database


async def state(database: Database, workspace_id) -> dict[str, list[tuple]]:
    async with database.workspace(workspace_id) as connection:
        return {name: await (await connection.execute(query)).fetchall() for name, query in STATE.items()}


async def test_wrong_totals_are_reported_and_corrected(database, documents, workspace_id, capsys):
    other = uuid4()
    for workspace in (workspace_id, other):
        for number, text in enumerate(TEXTS):
            await documents.graph([text], name=f"part{number}.md", workspace_id=workspace)
    right, neighbour = await state(database, workspace_id), await state(database, other)
    assert not await wrong_sums(database, workspace_id)
    assert await verify_sums(database, repair=False)
    assert "PostgreSQL's sums match the provenance" in capsys.readouterr().out
    for damage in DAMAGE:
        async with database.workspace(workspace_id) as connection:
            await connection.execute(damage)
        assert await wrong_sums(database, workspace_id), damage
        assert not await verify_sums(database, repair=False)
        assert await corrected(database, workspace_id)
        assert not await wrong_sums(database, workspace_id)
        assert await state(database, workspace_id) == right, damage
    for damage in DAMAGE:
        async with database.workspace(workspace_id) as connection:
            await connection.execute(damage)
    assert await verify_sums(database, repair=True)
    assert "corrected" in capsys.readouterr().out
    assert await state(database, workspace_id) == right
    assert await state(database, other) == neighbour
