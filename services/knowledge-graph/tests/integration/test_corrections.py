"""User corrections hold, whatever documents say later, until they are undone."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.gateway import Role
from knowledge_graph.recording.recount import wrong_sums
from service_kit.postgres import Database

SHOP = "OrderService uses StockDB. Stock Base uses DiskStore."


@pytest.fixture
def correct(client, auth_headers):
    async def send(kind: str, entity: str, *, status: int = 201, role: Role = Role.editor, **more):
        body = {"kind": kind, "entity": entity, "reason": "checked", **more}
        answer = await client.post("/v1/graph/corrections", json=body, headers=auth_headers(role=role))
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


@pytest.fixture
def undo(client, auth_headers):
    async def send(correction, status: int = 204):
        answer = await client.delete(f"/v1/graph/corrections/{correction['id']}", headers=auth_headers())
        assert answer.status_code == status, answer.text

    return send


@pytest.fixture
def needs(client, auth_headers):
    async def read(entity: str) -> set[str]:
        answer = await client.post(
            "/v1/graph/tools/analyze_dependencies", json={"entity": entity}, headers=auth_headers()
        )
        found = answer.json()["result"]
        return {one["name"] for one in found["depends_on"]} if found else set()

    return read


async def test_a_rejected_fact_stays_rejected_when_documents_restate_it(documents, correct, undo, needs):
    known = await documents.graph([SHOP])
    rejected = await correct("reject", "OrderService", relation_type="DEPENDS_ON", other="StockDB")
    assert await needs("OrderService") == set()
    await documents.graph([f"{SHOP} Again."], document_id=known, version=2)
    await documents.graph(["OrderService calls StockDB."], name="other.md")
    assert await needs("OrderService") == set()
    await undo(rejected)
    assert await needs("OrderService") == {"StockDB"}
    await undo(rejected, status=404)


async def test_rejecting_one_kind_of_dependency_keeps_the_others(documents, correct, needs):
    await documents.graph(["OrderService calls StockDB."])
    await correct("reject", "OrderService", relation_type="USES", other="StockDB", status=422)
    await documents.graph(["OrderService uses StockDB."], name="b.md")
    await correct("reject", "OrderService", relation_type="USES", other="StockDB")
    assert await needs("OrderService") == {"StockDB"}
    await correct("reject", "OrderService", relation_type="CALLS", other="StockDB")
    assert await needs("OrderService") == set()


async def test_a_fact_is_added_and_confirmed(documents, correct, undo, needs, client, auth_headers):
    known = await documents.graph([SHOP])
    added = await correct("add", "OrderService", relation_type="USES", other="FaxServer")
    assert (added["entity"], added["relation_type"], added["other"]) == ("OrderService", "USES", "FaxServer")
    assert await needs("OrderService") == {"StockDB", "FaxServer"}
    await correct("confirm", "OrderService", relation_type="USES", other="StockDB")
    body = {"entity_name": "OrderService"}
    response = await client.post("/v1/graph/tools/lookup_facts", json=body, headers=auth_headers())
    [fact] = [one for one in response.json()["result"]["relations"] if one["target_name"] == "StockDB"][:1]
    assert ("correction", "Correction: checked") in {
        (one["method"], one["document_name"]) for one in fact["statements"]
    }
    await documents.delete(known)
    assert await needs("OrderService") == {"StockDB", "FaxServer"}
    await undo(added)
    assert await needs("OrderService") == {"StockDB"}


async def test_names_are_merged_and_split(documents, correct, undo, needs):
    await documents.graph([SHOP])
    merged = await correct("merge", "Stock Base", other="StockDB")
    assert await needs("StockDB") == {"DiskStore"}
    await correct("merge", "StockBase", other="StockDB", status=422)
    await undo(merged)
    assert await needs("StockDB") == set()
    await documents.graph(["The Price Calculation Server (PCS) uses TaxDB."], name="b.md")
    await documents.graph(["PCS uses FeeDB."], name="c.md")
    assert await needs("PCS") == {"TaxDB", "FeeDB"}
    split = await correct("split", "Price Calculation Server", other="PCS")
    assert {split["entity"], split["other"]} == {"PCS", "Price Calculation Server"}
    await documents.graph(["The Price Calculation Server (PCS) is old."], name="d.md")
    assert await needs("PCS") == {"FeeDB"}
    assert await needs("Price Calculation Server") == {"TaxDB"}
    await correct("split", "OrderService", other="StockDB", status=422)
    await undo(split)
    assert await needs("PCS") == {"TaxDB", "FeeDB"}


async def test_a_type_set_by_a_person_wins(documents, correct, undo, entities):
    known = await documents.graph([SHOP])
    before = (await entities())["StockDB"]["entity_type"]
    typed = await correct("type", "StockDB", entity_type="TEAM")
    assert (await entities())["StockDB"]["entity_type"] == "TEAM"
    await documents.graph([f"{SHOP} StockDB is a database."], document_id=known, version=2)
    assert (await entities())["StockDB"]["entity_type"] == "TEAM"
    await undo(typed)
    assert (await entities())["StockDB"]["entity_type"] == before


async def test_corrections_are_listed_with_author_and_reason(documents, correct, client, auth_headers, workspace_id):
    await documents.graph([SHOP])
    first = await correct("add", "OrderService", relation_type="USES", other="FaxServer", status=201)
    second = await correct("type", "StockDB", entity_type="STORE")
    page = (await client.get("/v1/graph/corrections", params={"limit": 1}, headers=auth_headers())).json()
    more = {"limit": 1, "cursor": page["next_cursor"]}
    rest = (await client.get("/v1/graph/corrections", params=more, headers=auth_headers())).json()
    assert [*page["items"], *rest["items"]] == [second, first]
    assert (first["reason"], bool(first["created_by"]), bool(first["created_at"])) == ("checked", True, True)
    one = await client.get(f"/v1/graph/corrections/{first['id']}", headers=auth_headers())
    assert one.json() == first
    missing = await client.get(f"/v1/graph/corrections/{uuid4()}", headers=auth_headers())
    assert (missing.status_code, missing.json()["type"].rpartition("/")[2]) == (404, "correction-not-found")
    async with Database(client.database_url, 2).opened() as database:
        assert not await wrong_sums(database, workspace_id)


async def test_an_invalid_correction_is_refused_and_changes_nothing(documents, correct, client, auth_headers):
    await documents.graph([SHOP])
    refused = await correct("merge", "Nowhere", other="StockDB", status=422)
    assert refused["type"].rpartition("/")[2] == "name-not-known"
    refused = await correct("confirm", "StockDB", relation_type="OWNS", other="OrderService", status=422)
    assert refused["type"].rpartition("/")[2] == "fact-not-stated"
    await correct("type", "StockDB", other="OrderService", entity_type="TEAM", status=422)
    await correct("add", "OrderService", other="StockDB", status=422)
    await correct("type", "StockDB", entity_type="TEAM", role=Role.viewer, status=403)
    assert (await client.get("/v1/graph/corrections", headers=auth_headers())).json()["items"] == []
