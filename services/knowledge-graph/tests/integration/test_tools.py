"""The tools over HTTP: answers, similar and unknown names, input as data only, and separation of workspaces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from contracts.gateway import Role
from knowledge_graph.triples.records import checked_name

NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"
TRIPLES = """subject,predicate,object,subject_type,object_type
AuthService,depends on,UserDB,SERVICE,SERVICE
UserDB,depends on,DiskStore,SERVICE,SERVICE
DiskStore,calls,AuthService,SERVICE,SERVICE
BillingRouter,depends on,AuthService,SERVICE,SERVICE
ProjectAlpha,depends on,AuthService,PROJECT,SERVICE
ProjectBeta,uses,AuthService,PROJECT,SERVICE
ProjectGamma,depends on,BillingRouter,PROJECT,SERVICE
Ada Lovelace,owns,BillingRouter,PERSON,SERVICE
Weather Report,part of,Daily News,CONCEPT,CONCEPT
"""
TOOLS = (
    "lookup_facts",
    "summarize_document",
    "run_calculation",
    "analyze_dependencies",
    "shortest_path",
    "neighbours",
    "answer_question",
)


@pytest.fixture
def tool(client, auth_headers):
    """Returns tool("neighbours", entity=...), which calls the tool and returns its response."""

    async def use(name: str, status: int = 200, **body):
        answer = await client.post(f"/v1/graph/tools/{name}", json=body, headers=auth_headers())
        assert answer.status_code == status, answer.text
        return answer.json()

    return use


@pytest.fixture
def naughty() -> list[str]:
    if not NAUGHTY.exists():
        pytest.skip("../shared/eval/naughty-strings is not here")
    return json.loads(NAUGHTY.read_text(encoding="utf-8"))


@pytest.fixture
async def services(client, auth_headers):
    """Imports the graph of `TRIPLES`."""
    params = {"name": "services", "format": "csv"}
    brought = await client.post("/v1/graph/triples", params=params, content=TRIPLES, headers=auth_headers())
    assert brought.status_code == 201, brought.text
    return brought.json()


async def test_tools_are_described_to_models(client, auth_headers):
    found = (await client.get("/v1/graph/tools", headers=auth_headers())).json()["tools"]
    assert [one["name"] for one in found] == list(TOOLS)
    for one in found:
        assert len(one["description"]) > 40, one
        assert one["parameters"]["type"] == "object", one
        assert set(one["parameters"].get("required", [])) <= set(one["parameters"]["properties"]), one
    assert (await client.get("/v1/graph/tools")).status_code == 401


@pytest.mark.usefixtures("services")
async def test_the_dependencies_of_a_service_are_listed(tool):
    told = await tool("analyze_dependencies", entity="auth-services")
    assert (told["tool_name"], told["success"], told["error"]) == ("analyze_dependencies", True, None)
    found = told["result"]
    assert found["entity"]["name"] == "AuthService"
    assert [(one["name"], one["depth"], one["via"]) for one in found["depends_on"]] == [
        ("UserDB", 1, None),
        ("DiskStore", 2, "UserDB"),
    ]
    assert {(one["name"], one["depth"], one["via"]) for one in found["depended_by"]} == {
        ("BillingRouter", 1, None),
        ("ProjectAlpha", 1, None),
        ("ProjectBeta", 1, None),
        ("DiskStore", 1, None),
        ("ProjectGamma", 2, "BillingRouter"),
        ("UserDB", 2, "DiskStore"),
    }
    assert found["cycles"] == [["AuthService", "UserDB", "DiskStore"]]
    critical = found["criticality"]
    assert (critical["level"], critical["dependents"], critical["all_dependents"]) == ("critical", 4, 6)
    assert "4 entities depend on AuthService directly" in critical["reason"]
    assert "1 dependency cycle" in critical["reason"]
    near = (await tool("analyze_dependencies", entity="AuthService", depth=1, relation_types=["uses"]))["result"]
    assert [one["name"] for one in near["depended_by"]] == ["ProjectBeta"]
    assert near["depends_on"] == near["cycles"] == []
    few = (await tool("analyze_dependencies", entity="AuthService", limit=2))["result"]
    assert (len(few["depended_by"]), few["truncated"]) == (2, True)
    nothing = (await tool("analyze_dependencies", entity="Weather Report"))["result"]
    assert nothing["criticality"]["level"] == "none"


ASKED = (
    ("lookup_facts", {"entity_name": "AuthService"}),
    ("run_calculation", {"query": "How many services depend on AuthService?"}),
    ("analyze_dependencies", {"entity": "AuthService"}),
    ("shortest_path", {"source": "ProjectAlpha", "target": "UserDB"}),
    ("neighbours", {"entity": "AuthService"}),
    ("answer_question", {"question": "Which services depend on AuthService?"}),
)


@pytest.mark.usefixtures("services")
@pytest.mark.parametrize(("name", "body"), ASKED)
async def test_every_tool_reports_how_many_documents_are_not_in_the_graph_yet(tool, owners, name, body):
    for pending in (0, 3):
        owners.ungraphed = pending
        told = await tool(name, **body)
        assert (told["success"], told["documents_pending"]) == (True, pending)
    owners.is_away = True  # the graph answers without it
    told = await tool(name, **body)
    assert (told["success"], told["documents_pending"]) == (True, None)


async def test_a_tool_without_a_result_reports_pending_documents_too(tool, owners):
    owners.ungraphed = 1
    for name, body in (ASKED[0], ASKED[-1]):
        told = await tool(name, **body)
        assert (told["success"], told["documents_pending"]) == (False, 1)


async def test_a_question_that_is_not_about_structure_calls_no_other_service(tool, owners):
    owners.ungraphed = 1
    told = await tool("answer_question", question="How does the retry of payments work?")
    assert (told["success"], told["documents_pending"], owners.asked) == (False, None, [])


@pytest.mark.usefixtures("services")
async def test_a_document_that_arrives_while_the_graph_is_read_counts_as_pending(tool, client, owners, monkeypatch):
    """Otherwise it would be missing in the answer without a notice: ingestion no longer counts it."""
    reader = client.app.state.toolbox.reader
    read = reader.read

    async def arrives(*asked):
        found = await read(*asked)
        owners.ungraphed = 0
        return found

    monkeypatch.setattr(reader, "read", arrives)
    owners.ungraphed = 1
    assert (await tool("analyze_dependencies", entity="AuthService"))["documents_pending"] == 1


@pytest.mark.usefixtures("services")
async def test_a_tool_calculates_figures_of_the_graph(tool):
    async def value(query: str) -> float:
        told = await tool("run_calculation", query=query)
        assert told["success"], told
        return told["result"]["value"]

    assert await value("How many services depend on AuthService?") == 2
    assert await value("How many projects depend on AuthService?") == 2
    assert await value("How many projects depend on AuthService indirectly?") == 3
    assert await value("How many things does AuthService depend on?") == 1
    assert await value("How many services are there?") == 4
    assert await value("How many relations are there?") == 9
    assert await value("How many owns relations are there?") == 1
    assert await value("How many relations does BillingRouter have?") == 3
    assert await value("How often is AuthService mentioned?") == 5
    which = (await tool("run_calculation", query="Which projects depend on AuthService?"))["result"]
    assert [one["label"] for one in which["rows"]] == ["ProjectAlpha", "ProjectBeta"]
    assert "AuthService" in which["understood"]
    top = (await tool("run_calculation", query="top 2 services by relations"))["result"]
    assert [one["label"] for one in top["rows"]] == ["AuthService", "BillingRouter"]
    summary = (await tool("run_calculation", aggregation="summary"))["result"]
    rows = {one["label"]: one["value"] for one in summary["rows"]}
    assert (rows["entities"], rows["entities: PROJECT"], rows["relations"]) == (10, 3, 9)
    assert rows["average mentions"] == 1.8
    central = (await tool("run_calculation", aggregation="top_entities", by="centrality", n=1))["result"]
    assert [one["label"] for one in central["rows"]] == ["AuthService"]
    both = await tool(
        "run_calculation", aggregation="count_related", entity="UserDB", direction="both", entity_type="service"
    )
    assert both["result"]["value"] == 2


@pytest.mark.usefixtures("services")
async def test_an_unknown_calculation_lists_the_available_ones(tool):
    told = await tool("run_calculation", query="MATCH (n) DETACH DELETE n")
    assert (told["success"], told["result"]) == (False, None)
    assert "How many services depend on AuthService?" in told["suggestions"]
    assert "count_related" in told["error"]
    told = await tool("run_calculation", query="How many bananas are there?")
    assert (told["success"], told["error"]) == (False, "the graph has no entities of the type BANANA")
    assert "SERVICE" in told["suggestions"]
    for body in (
        {},
        {"query": "entities by type", "aggregation": "summary"},
        {"aggregation": "degree"},
        {"aggregation": "drop"},
        {"aggregation": "count_related", "entity": "x", "direction": "both", "transitive": True},
        {"query": "x" * 501},
        {"aggregation": "top_entities", "n": 0},
        {"aggregation": "count_relations", "relation_types": ["'; DROP TABLE entity; --"]},
    ):
        assert (await tool("run_calculation", 422, **body))["type"] == "invalid-request", body


@pytest.mark.usefixtures("services")
async def test_paths_and_neighbours_are_found(tool):
    found = (await tool("shortest_path", source="ProjectGamma", target="user db"))["result"]
    [path] = found["paths"]
    assert path["names"] == ["ProjectGamma", "BillingRouter", "AuthService", "UserDB"]
    assert [one["relation_type"] for one in path["relations"]] == ["DEPENDS_ON"] * 3
    none = (await tool("shortest_path", source="ProjectGamma", target="Daily News"))["result"]
    assert (none["paths"], none["note"]) == ([], "no path of up to 4 steps was found")
    same = (await tool("shortest_path", source="UserDB", target="user_db"))["result"]
    assert same["note"] == "both names mean the same entity"
    near = (await tool("neighbours", entity="AuthService"))["result"]["neighbours"]
    assert {one["name"]: one["relation_types"] for one in near} == {
        "UserDB": ["DEPENDS_ON"],
        "DiskStore": ["CALLS"],
        "BillingRouter": ["DEPENDS_ON"],
        "ProjectAlpha": ["DEPENDS_ON"],
        "ProjectBeta": ["USES"],
    }
    assert {one["entity_type"] for one in near} == {"SERVICE", "PROJECT"}
    assert len((await tool("neighbours", entity="AuthService", limit=2))["result"]["neighbours"]) == 2


async def test_similar_names_are_resolved_and_unknown_ones_are_reported(tool, services):
    misspelled = await tool("neighbours", entity="AuthServise")
    assert misspelled["success"], misspelled
    assert (misspelled["result"]["entity"]["name"], misspelled["result"]["entity"]["how"]) == ("AuthService", "fuzzy")
    begun = (await tool("neighbours", entity="Project"))["result"]
    assert (begun["entity"]["how"], begun["entity"]["similarity"]) == ("prefix", 0.583)
    assert {begun["entity"]["name"], *(one["name"] for one in begun["alternatives"])} == {
        "ProjectAlpha",
        "ProjectBeta",
        "ProjectGamma",
    }
    by_id = await tool("neighbours", entity=begun["entity"]["id"])
    assert by_id["result"]["entity"]["name"] == begun["entity"]["name"]
    for name in ("Nobody Knows This", "P", "💥", "0" * 32):
        told = await tool("neighbours", entity=name)
        assert (told["success"], told["result"]) == (False, None), told
        assert "no entity named" in told["error"]
    assert "ProjectAlpha" in (await tool("neighbours", entity="Pr"))["suggestions"]
    assert services["entities"] == 10


async def test_facts_include_their_sentences(tool, documents, services):
    await documents.graph(
        ["AuthService depends on TokenStore. It was a long day.", "AuthService: issues tokens."], name="auth.md"
    )
    told = await tool("lookup_facts", entity_name="AuthService", max_chunks=3)
    found = told["result"]
    facts = {(one["source_name"], one["relation_type"], one["target_name"]): one for one in found["relations"]}
    said = facts["AuthService", "DEPENDS_ON", "TokenStore"]["statements"]
    assert "AuthService depends on TokenStore." in [one["text"] for one in said]
    assert {one["document_name"] for one in said} == {"auth.md"}
    [brought] = facts["AuthService", "DEPENDS_ON", "UserDB"]["statements"]
    assert brought["text"] == "depends on"
    assert (brought["document_name"], brought["document_id"]) == ("services", services["id"])
    assert (brought["method"], brought["chunk_id"]) == ("user", None)
    assert {one["document_name"] for one in found["chunks"]} == {"auth.md"}
    assert any("issues tokens" in one["text"] for one in found["chunks"])
    assert {"UserDB", "TokenStore"} <= {one["name"] for one in found["neighbours"]}
    listed = [one["relation_type"] for one in found["relations"]]
    assert listed == sorted(listed, key=lambda kind: kind == "CO_OCCURS")
    none = (await tool("lookup_facts", entity_name="AuthService", max_chunks=0, max_relations=1))["result"]
    assert (none["chunks"], len(none["relations"])) == ([], 1)


async def test_topics_come_from_the_graph_without_a_search(tool, documents):
    await documents.graph(["The BillingRouter sends invoices.", "Nothing here."], name="billing.md")
    told = await tool("summarize_document", topic="billing router")
    assert told["success"], told
    found = told["result"]
    assert found["found_by"] == "graph"
    assert "has no search" in found["note"]
    assert [one["text"] for one in found["passages"]] == ["The BillingRouter sends invoices."]
    assert not (await tool("summarize_document", topic="the weather in Spain"))["success"]


class TestSearched:
    """summarize_document with a search service, on the caller's behalf."""

    @pytest.fixture
    async def search(self, client):
        """A search service that the application calls; `state.answer` is its response."""
        app = FastAPI()

        @app.post("/v1/search")
        async def answer(request: Request) -> JSONResponse:
            app.state.asked = await request.json(), request.headers["authorization"]
            return JSONResponse(*app.state.answer)

        tools = client.app.state.toolbox
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as http:
            retrieval = replace(tools.retrieval, client=http, base_url="http://search")
            client.app.state.toolbox = replace(tools, retrieval=retrieval)
            yield app

    def found(self, *texts: str, good_match: bool = True):
        hit = {"document_id": str(uuid4()), "workspace_id": str(uuid4()), "document_name": "a.md", "score": 0.5}
        hit |= dict.fromkeys(("document_title", "section_title", "page", "page_end", "box", "line_start", "line_end"))
        hit |= {"media_type": "text/markdown", "heading_path": ["A", "B"], "chunk_index": 0}
        hits = [hit | {"chunk_id": f"c{number}", "content": text} for number, text in enumerate(texts)]
        rest = {"good_match": good_match, "match": 0.9, "legs": [], "milliseconds": 1.0}
        return {"query": "q", "mode": "hybrid", "hits": hits, **rest}, 200

    async def test_the_search_contributes_passages(self, tool, search, token_keys, principal):
        search.state.answer = self.found("One.", "x" * 5_000)
        told = (await tool("summarize_document", topic="tokens", max_passages=2))["result"]
        assert (told["found_by"], told["note"]) == ("search", None)
        assert [len(one["text"]) for one in told["passages"]] == [4, 2_000]
        assert told["passages"][0]["section"] == "A > B"
        body, authorization = search.state.asked
        assert (body["query"], body["k"]) == ("tokens", 2)
        caller = token_keys.tokens("retrieval").verify(authorization.removeprefix("Bearer "))
        assert caller == replace(principal, role=Role.viewer)

    async def test_a_weak_or_empty_search_result_is_reported(self, tool, search):
        search.state.answer = self.found("One.", good_match=False)
        assert "likely" in (await tool("summarize_document", topic="tokens"))["result"]["note"]
        search.state.answer = self.found()
        told = await tool("summarize_document", topic="tokens")
        assert (told["success"], told["error"]) == (False, "no document says anything about 'tokens'")

    @pytest.mark.parametrize("answer", [({}, 200), ({"type": "x"}, 503), ({"type": "x"}, 403)])
    async def test_a_failed_search_still_returns_the_graph(self, tool, search, documents, answer):
        search.state.answer = answer
        await documents.graph(["The BillingRouter sends invoices."], name="billing.md")
        told = (await tool("summarize_document", topic="BillingRouter"))["result"]
        assert told["found_by"] == "graph"
        assert told["note"].startswith("retrieval ")


BODIES = {
    "lookup_facts": ("entity_name",),
    "summarize_document": ("topic",),
    "run_calculation": ("query",),
    "analyze_dependencies": ("entity",),
    "shortest_path": ("source", "target"),
    "neighbours": ("entity",),
    "answer_question": ("question",),
}
HOSTILE = [
    "'; DROP TABLE entity; --",
    "'}) DETACH DELETE n //",
    "%_%",
    "\\",
    "a" * 200,
    "\u202eabc",
    "مرحبا",
    "${jndi:ldap://x}",
    "How many services depend on '; DROP TABLE entity; --?",
]


async def each_tool(client, headers, name: str) -> None:
    for tool, fields in BODIES.items():
        answer = await client.post(f"/v1/graph/tools/{tool}", json=dict.fromkeys(fields, name), headers=headers)
        assert answer.status_code in (200, 422), (tool, name, answer.text)
        if answer.status_code == 200:
            assert answer.json()["success"] in (True, False)


@pytest.mark.usefixtures("services")
async def test_hostile_names_are_treated_as_data(client, auth_headers, tool):
    for name in HOSTILE:
        await each_tool(client, auth_headers(), name)
    for body in ({"entity": "a\x00"}, {"entity": ""}, {"entity": "x" * 10_000}, {"entity": "\ud800"}, {"entity": 5}):
        content = json.dumps(body)
        headers = auth_headers() | {"Content-Type": "application/json"}
        answer = await client.post("/v1/graph/tools/neighbours", content=content, headers=headers)
        assert answer.status_code == 422, body
    assert (await tool("run_calculation", query="How many relations are there?"))["result"]["value"] == 9


async def test_naughty_strings_are_treated_as_data(client, auth_headers, tool, naughty):
    """Adds the strings as entities to the graph and calls the tools with them."""
    usable = [name for name in naughty if _is_usable(name)]
    lines = [json.dumps({"subject": "AuthService", "predicate": "uses", "object": name}) for name in usable]
    params = {"name": usable[-1], "format": "jsonl"}
    content = "\n".join(lines)
    brought = await client.post("/v1/graph/triples", params=params, content=content, headers=auth_headers())
    assert brought.status_code == 201, brought.text
    for name in naughty[::5]:
        answer = await client.post("/v1/graph/tools/neighbours", json={"entity": name}, headers=auth_headers())
        assert answer.status_code in (200, 422), (name, answer.text)
        if name in usable and answer.status_code == 200:
            assert answer.json()["success"], (name, answer.text)
    for form in ("graphml", "turtle", "jsonl"):
        assert (await client.get(f"/v1/graph/export?format={form}", headers=auth_headers())).status_code == 200
    counted = (await tool("run_calculation", query="How many relations are there?"))["result"]["value"]
    assert counted == brought.json()["relations"] > 200


def _is_usable(name: str) -> bool:
    try:
        return bool(checked_name(name, "name"))
    except ValueError:
        return False


@pytest.mark.usefixtures("services")
async def test_another_workspace_sees_its_own_graph(client, auth_headers):
    stranger = auth_headers(workspace_id=uuid4())
    for tool, fields in BODIES.items():
        body = dict.fromkeys(fields, "AuthService")
        told = (await client.post(f"/v1/graph/tools/{tool}", json=body, headers=stranger)).json()
        assert not told["success"], told
        assert "UserDB" not in str(told), told
    body = {"aggregation": "count_entities"}
    told = (await client.post("/v1/graph/tools/run_calculation", json=body, headers=stranger)).json()
    assert told["result"]["value"] == 0
