"""Lists, expansion, and input that must be treated only as data."""

from __future__ import annotations

import pytest

CHAIN = [
    "CheckoutService depends on PaymentGateway.",
    "PaymentGateway uses LedgerDB.",
    "LedgerDB is maintained by Anna Berg.",
    "Something else about the WeatherRouter.",
]


@pytest.fixture
async def chain(client, documents):
    assert (await client.get("/readyz")).status_code == 200
    # One document each, so that only the names link them.
    return [await documents.graph([text], name=f"part{number}.md") for number, text in enumerate(CHAIN)]


async def test_expansion_follows_relations_and_returns_the_path(client, auth_headers, chain):
    async def expand(**body):
        return (await client.post("/v1/graph/expand", json=body, headers=auth_headers())).json()

    found = await expand(query="Who is behind the checkout service's data?", max_hops=3)
    assert [one["name"] for one in found["entities"]] == ["CheckoutService"]
    by_document = {one["document_id"]: one for one in found["chunks"]}
    assert str(chain[3]) not in by_document
    ways = [(by_document[str(document)]["hop"], by_document[str(document)]["path"]) for document in chain[:3]]
    assert ways[0] == (0, ["CheckoutService"])
    assert ways[1] == (1, ["CheckoutService", "PaymentGateway"])
    assert ways[2] == (2, ["CheckoutService", "PaymentGateway", "LedgerDB"])
    scores = [one["score"] for one in found["chunks"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1
    near = await expand(entities=["checkout-service"], max_hops=0)
    assert {one["document_id"] for one in near["chunks"]} == {str(chain[0])}
    assert (await expand(query="nothing known here"))["chunks"] == []
    assert len((await expand(query="CheckoutService", limit=1))["chunks"]) == 1


@pytest.mark.usefixtures("chain")
async def test_the_list_is_paginated_and_filtered(client, auth_headers):
    seen, cursor = [], None
    for _ in range(20):
        params = {"limit": 2, "min_mentions": 1} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/graph/entities", params=params, headers=auth_headers())).json()
        seen += [(one["mentions"], one["id"]) for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 9
    assert [count for count, _ in seen] == sorted((count for count, _ in seen), reverse=True)

    async def names(**params):
        page = (await client.get("/v1/graph/entities", params=params, headers=auth_headers())).json()
        return {one["name"] for one in page["items"]}

    assert await names(q="Payment gate") == {"PaymentGateway"}
    assert await names(entity_type="PERSON", min_mentions=1) == {"Anna Berg"}
    assert await names(entity_type="PERSON") == set()
    assert set() < await names() == await names(min_mentions=2) < await names(min_mentions=1)
    assert await names(q="Anna Berg") == {"Anna Berg"}
    assert await names(q="Anna Berg", min_mentions=2) == set()
    assert await names(q="%") == await names(q="💥") == set()


async def test_a_setting_determines_the_minimum_entity_frequency(build, running, documents, auth_headers):
    async with running(build(graph_min_entity_freq=1)) as client:
        await documents.graph(["CheckoutService depends on PaymentGateway. PaymentGateway uses LedgerDB."], name="a.md")

        async def shown(path: str, **params):
            answer = (await client.get(f"/v1/graph/{path}", params=params, headers=auth_headers())).json()
            return {one["name"] for one in answer.get("items") or answer["nodes"]}

        async def reached(**body):
            body = {"entities": ["PaymentGateway"], **body}
            found = await client.post("/v1/graph/expand", json=body, headers=auth_headers())
            return found.json()["chunks"]

        seldom = {"CheckoutService", "LedgerDB"}
        assert seldom <= await shown("entities")
        assert seldom <= await shown("subgraph") & await shown("subgraph", entity="PaymentGateway")
        for few in (await shown("entities", min_mentions=2), await shown("subgraph", min_mentions=2)):
            assert not seldom & few
        assert await shown("subgraph", entity="LedgerDB", min_mentions=2) == {"LedgerDB", "PaymentGateway"}
        assert await reached() == await reached(min_mentions=2) != []


HOSTILE = [
    "'; DROP TABLE entity; --",
    "'}) DETACH DELETE n //",
    "💥" * 100,
    "مرحبا",
    "%_%",
    "\u202eabc",
    "a" * 200,
    "\\",
]


async def test_hostile_names_are_treated_as_data(client, auth_headers):
    for name in HOSTILE:
        listed = await client.get("/v1/graph/entities", params={"q": name}, headers=auth_headers())
        expanded = await client.post(
            "/v1/graph/expand", json={"query": name, "entities": [name]}, headers=auth_headers()
        )
        assert (listed.status_code, expanded.status_code) == (200, 200), name
        shown = await client.get("/v1/graph/entities/x", headers=auth_headers())
        assert shown.status_code == 404
    for path in (
        "entities/%00",
        "entities?q=%00",
        "entities?cursor=zzz",
        "entities?cursor=WzEsIlx1MDAwMCJd",
        "entities?limit=0",
    ):
        assert (await client.get(f"/v1/graph/{path}", headers=auth_headers())).status_code == 422, path
    for body in ({}, {"query": ""}, {"query": "a\x00"}, {"entities": []}, {"query": "x", "max_hops": 4}):
        refused = await client.post("/v1/graph/expand", json=body, headers=auth_headers())
        assert refused.status_code == 422, body
    assert (await client.get("/v1/graph/status")).status_code == 401
