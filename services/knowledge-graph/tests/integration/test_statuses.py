"""What later documents close, what stays open, and how the tools report it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

import pytest

from knowledge_graph.recording.recount import wrong_sums
from service_kit.postgres import Database

ROWS = """
    SELECT document_id, number, source_id, target_id, relation_type, status, dated, closed_by FROM relation_evidence
    ORDER BY document_id, number
"""
SUMS = "SELECT source_id, target_id, relation_type, weight, evidence FROM relation ORDER BY 1, 2, 3"
USED = "# Shop\n\nOrderService uses StockDB."
GONE = "# Meeting\n\nOrderService no longer uses StockDB. OrderService will use PriceDB."


@pytest.fixture
def ask(client, auth_headers):
    async def send(tool: str, **body):
        answer = await client.post(f"/v1/graph/tools/{tool}", json=body, headers=auth_headers())
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    return send


@pytest.fixture
def needs(ask):
    """Returns needs("OrderService"): what it needs now, and its other facts by status."""

    async def read(entity: str):
        found = await ask("analyze_dependencies", entity=entity)
        now = {one["name"] for one in found["depends_on"]}
        return now, {(one["status"], one["target_name"]) for one in found["not_current"]}

    return read


def written(year: int, month: int = 1) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


async def test_a_later_document_ends_a_fact_of_an_earlier_one_and_both_are_kept(documents, needs, ask):
    await documents.graph([USED], name="old.md", written_at=written(2023))
    assert await needs("OrderService") == ({"StockDB"}, set())
    later = await documents.graph([GONE], name="new.md", written_at=written(2025))
    assert await needs("OrderService") == (set(), {("past", "StockDB"), ("planned", "PriceDB")})
    facts = (await ask("lookup_facts", entity_name="OrderService"))["relations"]
    [past] = [one for one in facts if one["status"] == "past"]
    assert {one["document_name"] for one in past["statements"]} == {"old.md", "new.md"}
    await documents.delete(later)
    assert await needs("OrderService") == ({"StockDB"}, set())


async def test_an_earlier_denial_does_not_end_a_later_fact(documents, needs):
    await documents.graph([USED], name="new.md", written_at=written(2025))
    await documents.graph([GONE], name="old.md", written_at=written(2023))
    now, others = await needs("OrderService")
    assert now == {"StockDB"}
    assert ("past", "StockDB") in others


async def test_contradicting_undated_documents_are_both_shown(documents, needs, ask):
    await documents.graph([USED], name="a.md")
    await documents.graph([GONE], name="b.md")
    assert await needs("OrderService") == ({"StockDB"}, {("past", "StockDB"), ("planned", "PriceDB")})
    answered = await ask("answer_question", question="What does OrderService use?")
    assert "Stated otherwise elsewhere: StockDB" in answered["text"]


async def test_denying_a_direct_dependency_does_not_dispute_an_indirect_one(documents, ask):
    await documents.graph(["WebService uses OrderService. OrderService uses StockDB. WebService never uses StockDB."])
    answered = await ask("answer_question", question="What breaks if StockDB is down?")
    assert "WebService (through OrderService)" in answered["text"]
    assert "otherwise" not in answered["text"]
    direct = await ask("answer_question", question="Which services use StockDB?")
    assert "Denied: WebService" in direct["text"]


async def test_whether_one_depends_on_the_other_is_answered_with_what_is_denied(documents, ask):
    await documents.graph(["WebService uses OrderService. OrderService uses StockDB. WebService never uses StockDB."])
    answered = await ask("answer_question", question="Does WebService use StockDB?")
    assert answered["text"] == (
        "WebService depends on StockDB indirectly: WebService → OrderService [1] → StockDB [2]."
        " Of a direct dependency: Denied: StockDB [3]."
    )
    await documents.graph(["FareService does not depend on PriceDB. OrderService depends on PriceDB."], name="b.md")
    denied = await ask("answer_question", question="Does FareService depend on PriceDB?")
    assert denied["text"] == "No document states this of FareService today. Denied: PriceDB [1]."
    assert [one["status"] for one in denied["not_current"]] == ["negated"]


async def test_a_later_owner_replaces_the_earlier_one(documents, ask):
    await documents.graph(["The Heron team owns OrderService."], name="teams.md", written_at=written(2023))
    await documents.graph(["The Gull team owns OrderService."], name="teams-new.md", written_at=written(2025, 9))
    answered = await ask("answer_question", question="Who owns OrderService?")
    assert {one["name"] for one in answered["rows"]} == {"Gull"}
    assert [(one["name"], one["status"], one["dated"]) for one in answered["not_current"]] == [
        ("Heron", "past", "2025-09-01")
    ]
    assert answered["text"].startswith("OrderService is owned by Gull [1]. Formerly: Heron (until 2025-09-01) [2].")
    before = await ask("answer_question", question="Who owned OrderService before its present owner?")
    assert {one["name"] for one in before["rows"]} == {"Heron"}


async def test_a_decision_that_replaces_another_ends_its_facts(documents, needs):
    old = "# ADR-003: Queue\n\nStatus: accepted\n\n## Decision\n\nOrderService uses RabbitStore."
    await documents.graph([old], name="adr-003-queue.md", title="ADR-003: Queue")
    new = "# ADR-019: Queue\n\nStatus: accepted\nReplaces: ADR-003\n\n## Decision\n\nOrderService uses NatsStore."
    replacing = await documents.graph([new], name="adr-019-queue.md", title="ADR-019: Queue")
    assert await needs("OrderService") == ({"NatsStore"}, {("past", "RabbitStore")})
    await documents.delete(replacing)
    assert await needs("OrderService") == ({"RabbitStore"}, set())


async def test_questions_about_other_times_are_answered(documents, ask):
    await documents.graph(
        ["OrderService used StockDB until June 2024.\n\nOrderService will use PriceDB.\n\nFareService uses PriceDB."]
    )
    before = await ask("answer_question", question="What did OrderService use before?")
    assert before["text"] == "OrderService formerly depended on StockDB (until 2024-06) [1]."
    assert (before["status"], before["sources"][0]["content"][:28]) == ("past", "OrderService used StockDB un")
    planned = await ask("answer_question", question="What will use PriceDB?")
    assert planned["text"] == "Planned to depend on PriceDB: OrderService [1]."
    now = await ask("answer_question", question="Which services use PriceDB?")
    assert "Planned: OrderService [2]." in now["text"]
    assert {one["name"] for one in now["rows"]} == {"FareService"}
    gone = await ask("answer_question", question="Wer nutzt StockDB?")
    assert gone["text"] == "Kein Dokument sagt das heute von StockDB. Früher: OrderService (bis 2024-06) [1]."
    counted = await ask("run_calculation", query="How many services use PriceDB?")
    assert counted["value"] == 1
    assert [(one["source_name"], one["status"]) for one in counted["not_current"]] == [("OrderService", "planned")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_documents_in_any_order_give_the_same_facts(documents, needs, order):
    texts = [
        (USED, "a.md", written(2023)),
        (GONE, "b.md", written(2024)),
        ("OrderService uses StockDB again. FareService uses StockDB.", "c.md", written(2026)),
    ]
    for number in order:
        text, name, when = texts[number]
        await documents.graph([text], name=name, written_at=when)
    assert await needs("OrderService") == ({"StockDB"}, {("past", "StockDB"), ("planned", "PriceDB")})
    assert await needs("FareService") == ({"StockDB"}, set())


async def test_deleting_a_document_removes_only_the_facts_it_states_and_ends(documents, client, workspace_id):
    adr = "# ADR-9: Queue\n\nReplaces: ADR-3\n\nOrderService uses NatsStore."
    kept = [
        {"texts": [USED], "name": "old.md", "written_at": written(2023)},
        {"texts": ["The Heron team owns OrderService."], "name": "teams.md", "written_at": written(2023)},
        {"texts": ["# ADR-3: Queue\n\nOrderService uses RabbitStore."], "name": "adr-3.md", "title": "ADR-3: Queue"},
    ]
    passing = [
        {"texts": [GONE], "name": "new.md", "written_at": written(2025)},
        {"texts": ["The Gull team owns OrderService."], "name": "teams-new.md", "written_at": written(2025)},
        {"texts": [adr], "name": "adr-9.md", "title": "ADR-9: Queue"},
    ]
    for one in kept:
        await documents.graph(**one)
    async with Database(client.database_url, 2).opened() as database:

        async def state() -> list[list[tuple]]:
            async with database.workspace(workspace_id) as connection:
                return [await (await connection.execute(query)).fetchall() for query in (ROWS, SUMS)]

        before = await state()
        added = [await documents.graph(**one) for one in passing]
        during = await state()
        assert len([row for row in during[0] if row[-1] is not None]) == len(kept)
        for document_id in added:
            await documents.delete(document_id)
        assert await state() == before
        assert not await wrong_sums(database, workspace_id)


async def test_a_requirements_file_describes_the_project_of_its_folder(documents, needs):
    await documents.graph(
        ["fastapi==0.115\nredis==5.0\n"], name="requirements.txt", path="src/bed-board/requirements.txt"
    )
    now, _ = await needs("bed-board")
    assert now == {"fastapi", "redis"}
