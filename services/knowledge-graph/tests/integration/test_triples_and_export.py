"""Imported triples, and the graph as files and as a picture."""

from __future__ import annotations

import asyncio
import json
from uuid import uuid4
from xml.etree import ElementTree

import pytest

from contracts.gateway import Role

HEADER = "subject,predicate,object\n"
CHAIN = HEADER + "AuthService,depends on,UserDB\nUserDB,depends on,DiskStore\n"


@pytest.fixture
def bring(client, auth_headers):
    async def send(content: str | bytes, name: str = "mine", status: int = 201, **who):
        params = {"name": name, "format": who.pop("format", "csv")}
        answer = await client.post("/v1/graph/triples", params=params, content=content, headers=auth_headers(**who))
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


@pytest.fixture
def get(client, auth_headers):
    async def read(path: str, status: int = 200, **params):
        who = {key: params.pop(key) for key in ("workspace_id", "role") if key in params}
        answer = await client.get(f"/v1/graph/{path}", params=params, headers=auth_headers(**who))
        assert answer.status_code == status, answer.text
        return answer

    return read


async def test_a_set_of_triples_is_imported_replaced_and_deleted(bring, get, entities, client, auth_headers):
    first = await bring(CHAIN)
    assert (first["triples"], first["entities"], first["relations"], first["aliases"]) == (2, 3, 2, 0)
    assert set(await entities()) == {"AuthService", "UserDB", "DiskStore"}
    again = await bring(HEADER + "AuthService,uses,CacheServer\nCS,alias of,CacheServer\n", status=200)
    assert (again["id"], again["created_at"], again["aliases"]) == (first["id"], first["created_at"], 1)
    assert set(await entities()) == {"AuthService", "CacheServer"}
    await bring("<http://x/AuthService> <http://x/owns> <http://x/Moon> .", "other", format="turtle")
    listed = (await get("triples")).json()["items"]
    assert [(one["name"], one["format"]) for one in listed] == [("mine", "csv"), ("other", "turtle")]
    assert (await get(f"triples/{first['id']}")).json() == again
    page = (await get("triples", limit=1)).json()
    rest = (await get("triples", limit=1, cursor=page["next_cursor"])).json()
    assert [page["items"][0]["name"], rest["items"][0]["name"], rest["next_cursor"]] == ["mine", "other", None]
    # They are not documents, so a comparison with ingestion finds no unknown ones.
    assert (await get("documents")).json()["items"] == []
    gone = await client.delete(f"/v1/graph/triples/{first['id']}", headers=auth_headers())
    assert gone.status_code == 204
    assert set(await entities()) == {"AuthService", "Moon"}
    assert (await client.delete(f"/v1/graph/triples/{first['id']}", headers=auth_headers())).status_code == 404
    await get(f"triples/{first['id']}", 404)
    assert (await bring(CHAIN))["id"] != first["id"]


async def test_aliases_merge_names(bring, client, auth_headers):
    await bring(HEADER + "AuthService,uses,UserDB\nLegacy Login,uses,OldDB\n")
    await bring(HEADER + "Legacy Login,alias of,AuthService\n", "aliases")
    body = {"entity": "legacy login"}
    neighbours = (await client.post("/v1/graph/tools/neighbours", json=body, headers=auth_headers())).json()
    assert neighbours["result"]["entity"]["name"] == "AuthService"
    assert {one["name"] for one in neighbours["result"]["neighbours"]} == {"UserDB", "OldDB"}


async def test_documents_and_sets_share_entities(bring, get, documents, entities, client, auth_headers):
    document = await documents.graph(["AuthService depends on UserDB."], name="auth.md")
    kept = await bring(CHAIN)
    assert (await entities())["AuthService"]["documents"] == 2
    assert (await get("status")).json()["documents"] == 1
    counted = await client.post(
        "/v1/graph/tools/run_calculation", json={"aggregation": "count_documents"}, headers=auth_headers()
    )
    assert counted.json()["result"]["value"] == 1
    await documents.delete(document)
    assert set(await entities()) == {"AuthService", "UserDB", "DiskStore"}
    await client.delete(f"/v1/graph/triples/{kept['id']}", headers=auth_headers())
    assert await entities() == {}
    expanded = await client.post("/v1/graph/expand", json={"entities": ["UserDB"]}, headers=auth_headers())
    assert expanded.json()["chunks"] == []


async def test_imported_triples_belong_to_no_passage(bring, get, client, auth_headers):
    await bring(CHAIN)
    expanded = await client.post("/v1/graph/expand", json={"entities": ["UserDB"]}, headers=auth_headers())
    assert [one["name"] for one in expanded.json()["entities"]] == ["UserDB"]
    assert expanded.json()["chunks"] == []
    shown = (await get("entities", q="UserDB")).json()["items"][0]["id"]
    assert (await get(f"entities/{shown}")).json()["chunk_ids"] == []


async def test_invalid_triples_are_refused_with_their_line_numbers(bring, get, client, auth_headers):
    refused = await bring(HEADER + "AuthService,uses,\nAuthService,uses\n", status=422)
    assert refused["type"] == "triples-not-valid"
    assert [one["line"] for one in refused["errors"]] == [2, 3]
    assert "line 2: the object is empty" in refused["detail"]
    assert (await bring(b"\xff\xfe", status=422))["errors"] == [{"line": 1, "message": "not UTF-8"}]
    for kind, content in (("csv", HEADER), ("jsonl", ""), ("turtle", "")):
        assert "no triples" in (await bring(content, status=422, format=kind))["detail"]
    assert (await bring("[" * 10_000, status=422, format="turtle"))["type"] == "triples-not-valid"
    too_many = HEADER + "".join(f"A{n},uses,B{n}\n" for n in range(50_001))
    assert "more than 50,000" in (await bring(too_many, status=422))["detail"]
    assert (await bring(b"x" * (17 << 20), status=413))["type"] == "import-too-large"
    assert (await get("triples")).json()["items"] == []
    for params, headers, status in (
        ({"format": "csv"}, {}, 422),
        ({"name": "x", "format": "xls"}, {}, 422),
        ({"name": "a\x00", "format": "csv"}, {}, 422),
        ({"name": "x"}, {}, 415),
        ({"name": "x"}, {"Content-Type": "text/csv; charset=utf-8"}, 201),
    ):
        sent = {**auth_headers(), **headers}
        answer = await client.post("/v1/graph/triples", params=params, content=CHAIN, headers=sent)
        assert answer.status_code == status, (params, answer.text)
    await get("triples", 422, cursor="zzz")
    await get("triples/x", 422)


async def test_viewers_read_and_editors_write(bring, get, client, auth_headers):
    kept = await bring(CHAIN, role=Role.editor)
    assert kept["created_by"]
    assert (await bring(CHAIN, status=403, role=Role.viewer))["type"] == "forbidden"
    await get(f"triples/{kept['id']}", role=Role.viewer)
    answer = await client.delete(f"/v1/graph/triples/{kept['id']}", headers=auth_headers(role=Role.viewer))
    assert answer.status_code == 403
    stranger = uuid4()
    await get(f"triples/{kept['id']}", 404, workspace_id=stranger)
    headers = auth_headers(workspace_id=stranger)
    assert (await client.delete(f"/v1/graph/triples/{kept['id']}", headers=headers)).status_code == 404
    assert (await get("triples", workspace_id=stranger)).json()["items"] == []


async def test_concurrent_imports_under_one_name_leave_one_set(client, auth_headers, get):
    async def send(number: int):
        content = HEADER + f"AuthService,uses,Target{number}Service\n"
        params = {"name": "mine", "format": "csv"}
        return await client.post("/v1/graph/triples", params=params, content=content, headers=auth_headers())

    answers = await asyncio.gather(*map(send, range(4)))
    assert sorted(one.status_code for one in answers) == [200, 200, 200, 201]
    assert len({one.json()["id"] for one in answers}) == 1
    [kept] = (await get("triples")).json()["items"]
    assert kept["entities"] == 2


class TestExport:
    async def test_exported_files_contain_the_whole_graph_and_can_be_imported(self, bring, get):
        rows = [f"Hub Service,uses,Leaf{n}Service" for n in range(1_500)]
        await bring(HEADER + "\n".join(rows))
        graphml = await get("export", format="graphml")
        assert graphml.headers["content-type"].startswith("application/graphml+xml")
        root = ElementTree.fromstring(graphml.content)
        space = {"g": "http://graphml.graphdrawing.org/xmlns"}
        nodes = {one.get("id") for one in root.findall(".//g:node", space)}
        edges = root.findall(".//g:edge", space)
        assert (len(nodes), len(edges)) == (1_501, 1_500)
        assert all(one.get(end) in nodes for one in edges for end in ("source", "target"))
        lines = [json.loads(line) for line in (await get("export", format="jsonl")).text.splitlines()]
        assert [one["kind"] for one in lines].count("relation") == 1_500
        turtle = await get("export", format="turtle")
        assert turtle.headers["content-disposition"] == 'attachment; filename="graph.ttl"'
        other = uuid4()
        back = await bring(turtle.content, "back", format="turtle", workspace_id=other)
        assert (back["entities"], back["relations"], back["notes"]) == (1_501, 1_500, [])
        hubs = [
            json.loads(line)["name"] for line in (await get("export", format="jsonl", min_mentions=2)).text.splitlines()
        ]
        assert hubs == ["Hub Service"]

    async def test_an_empty_graph_can_be_exported(self, get):
        assert len(ElementTree.fromstring((await get("export")).content)) == 9
        assert (await get("export", format="jsonl")).content == b""
        await get("export", 422, format="csv")
        await get("export", 422, min_mentions=0)

    async def test_two_exports_can_run_at_once(self, client, get, bring):
        await bring(CHAIN)
        export = client.app.state.export
        export.running = 2
        refused = await get("export", 503)
        assert (refused.json()["type"], refused.headers["retry-after"]) == ("exports-busy", "10")
        export.running = 0
        await get("export")
        assert export.running == 0


class TestSubgraph:
    async def test_a_subgraph_surrounds_an_entity(self, bring, get):
        await bring(CHAIN + "Weather Report,part of,Daily News\n")
        frequent = (await get("subgraph", entity="auth service", hops=2)).json()
        assert {one["name"] for one in frequent["nodes"]} == {"AuthService", "UserDB"}
        every = {"entity": "auth service", "min_mentions": 1}
        near = (await get("subgraph", **every)).json()
        assert (near["centre"]["name"], near["truncated"]) == ("AuthService", False)
        assert {one["name"] for one in near["nodes"]} == {"AuthService", "UserDB"}
        assert [one["relation_type"] for one in near["edges"]] == ["DEPENDS_ON"]
        far = (await get("subgraph", **every, hops=2)).json()
        assert {one["name"] for one in far["nodes"]} == {"AuthService", "UserDB", "DiskStore"}
        ids = {one["id"] for one in far["nodes"]}
        assert all({one["source"], one["target"]} <= ids for one in far["edges"])
        few = (await get("subgraph", **every, hops=2, max_nodes=2)).json()
        assert (len(few["nodes"]), few["truncated"]) == (2, True)
        other = (await get("subgraph", entity="auth service", relation_type="OWNS")).json()
        assert [one["name"] for one in other["nodes"]] == ["AuthService"]
        unknown = (await get("subgraph", 404, entity="AuthServe Unknown")).json()
        assert unknown["type"] == "entity-not-found"
        await get("subgraph", 404, entity="AuthService", workspace_id=uuid4())

    async def test_a_subgraph_has_up_to_5000_nodes_even_around_one_entity(self, bring, get):
        await bring(HEADER + "".join(f"Hub,uses,Spoke{n:04}\nSpoke{n:04},uses,End{n:04}\n" for n in range(3_000)))
        every = {"min_mentions": 1, "max_nodes": 5_000, "max_edges": 20_000}
        near = (await get("subgraph", entity="Hub", **every)).json()
        assert (len(near["nodes"]), len(near["edges"]), near["truncated"]) == (3_001, 3_000, False)
        for part in ({"entity": "Hub", "hops": 2}, {}):
            found = (await get("subgraph", **every, **part)).json()
            assert (len(found["nodes"]), found["truncated"]) == (5_000, True)

    async def test_a_subgraph_shows_the_most_central_part(self, bring, get):
        await bring(CHAIN)
        central = (await get("subgraph")).json()
        assert central["centre"] is None
        assert {one["name"] for one in central["nodes"]} == {"UserDB"}
        every = (await get("subgraph", min_mentions=1)).json()
        assert {one["name"] for one in every["nodes"]} == {"AuthService", "UserDB", "DiskStore"}
        assert len(every["edges"]) == 2
        assert (await get("subgraph", workspace_id=uuid4())).json()["nodes"] == []

    @pytest.mark.parametrize(
        "params",
        [
            {"hops": 0},
            {"hops": 4},
            {"max_nodes": 5_001},
            {"max_edges": 20_001},
            {"entity": ""},
            {"entity": "a\x00"},
            {"relation_type": "'; DROP"},
            {"min_mentions": 0},
        ],
    )
    async def test_the_size_of_a_subgraph_is_limited(self, get, params):
        await get("subgraph", 422, **params)
