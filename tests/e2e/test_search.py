"""Search with all its parameters, evidence for prompts, and search settings."""

from __future__ import annotations

import httpx2
import pytest
from api_calls import Tenant, created


async def search(http: httpx2.AsyncClient, query: str, **options: object) -> dict[str, object]:
    response = await http.post("/v1/search", json={"query": query, **options})
    assert response.status_code == 200, response.text
    answer: dict[str, object] = response.json()
    return answer


@pytest.fixture(scope="module")
async def documents(tenant: Tenant) -> dict[str, dict[str, object]]:
    """The example documents by name."""
    page = (await tenant.http.get("/v1/documents", params={"limit": 200})).json()
    return {one["name"]: one for one in page["items"]}


class TestFilters:
    async def test_each_filter_narrows_the_results(self, tenant, documents):
        services = documents["services.md"]
        for filters, allowed in (
            ({"document_ids": [services["id"]]}, {"services.md"}),
            ({"media_types": ["application/sql"]}, {"userdb_schema.sql"}),
            ({"media_types": ["text/html"]}, {"project-alpha.html", "onboarding.html"}),
            ({"source_types": ["upload"], "document_ids": [services["id"]]}, {"services.md"}),
        ):
            found = await search(tenant.http, "AuthService and UserDB", **filters)
            names = {hit["document_name"] for hit in found["hits"]}
            assert names
            assert names <= allowed

    async def test_a_filter_that_matches_nothing_finds_nothing(self, tenant):
        for filters in (
            {"document_ids": []},
            {"tags": ["no-such-tag"]},
            {"written_from": "2999-01-01T00:00:00Z"},
            {"metadata": ['$.authors[*] ? (@ == "Nobody")']},
            {"source_types": ["git"]},
        ):
            assert (await search(tenant.http, "AuthService", **filters))["hits"] == []

    async def test_field_prefixes_in_the_query_filter_too(self, tenant):
        found = await search(tenant.http, "type:text/html AuthService")
        assert {hit["media_type"] for hit in found["hits"]} == {"text/html"}

    async def test_a_session_scope_requires_its_id(self, tenant, documents):
        response = await tenant.http.post("/v1/search", json={"query": "AuthService", "scope": "session"})
        assert response.status_code in {400, 422}
        session = (await created(tenant.http, "/v1/sessions", {}))["id"]
        nothing = await search(tenant.http, "AuthService", scope="session", session_id=session)
        assert nothing["hits"] == []
        attached = documents["onboarding.html"]["id"]
        assert (await tenant.http.put(f"/v1/sessions/{session}/documents/{attached}")).status_code in {200, 201}
        found = await search(tenant.http, "AuthService", scope="session", session_id=session)
        assert {hit["document_id"] for hit in found["hits"]} == {attached}

    async def test_malformed_metadata_paths_are_refused(self, tenant):
        response = await tenant.http.post("/v1/search", json={"query": "q", "metadata": ["$.a["]})
        assert response.status_code in {400, 422}
        assert response.headers["content-type"].startswith("application/problem+json")


class TestAnswers:
    async def test_the_parts_of_an_explanation_add_up_to_the_score(self, tenant):
        found = await search(tenant.http, "Why could nobody sign in on 28 October?", explain=True, highlight=True)
        assert found["understood"]["terms"]
        assert found["timings"]
        assert {"lexical", "dense"} <= {leg["leg"] for leg in found["legs"]}
        why = found["hits"][0]["explanation"]
        summed = sum(value * why["weights"].get(name, 1.0) for name, value in why["features"].items())
        assert summed == pytest.approx(why["fused_score"], abs=1e-3)
        assert {"lexical", "dense"} <= set(why["legs"])
        for hit in found["hits"]:
            for span in hit["highlights"]:
                assert 0 <= span["start"] < span["end"] <= len(hit["content"])

    async def test_an_unknown_word_is_corrected(self, tenant):
        found = await search(tenant.http, "BilingRouter", explain=True, mode="lexical")
        assert found["understood"]["corrected"]
        assert any("BillingRouter" in hit["content"] for hit in found["hits"])

    async def test_strict_phrases_and_exclusions_work(self, tenant):
        either = await search(tenant.http, '"idempotency key"', strict=True)
        names = {hit["document_name"] for hit in either["hits"]}
        assert names == {"billing_router.ts", "inc-118-duplicate-receipts.md"}
        one = await search(tenant.http, '"idempotency key" -interface', strict=True)
        assert {hit["document_name"] for hit in one["hits"]} == {"inc-118-duplicate-receipts.md"}

    async def test_facets_count_the_filtered_documents(self, tenant, documents):
        found = await search(tenant.http, "AuthService", facets=["media_type", "document"], k=1)
        by_type = {one["value"]: one["documents"] for one in found["facets"]["media_type"]}
        assert by_type["text/html"] == 2
        assert len(found["facets"]["document"]) == len(documents)

    async def test_rewordings_section_context_and_caps_work(self, tenant):
        options = {"queries": ["outage of sign-in", "connection limit"], "around": "section", "max_per_document": 1}
        found = await search(tenant.http, "Why did UserDB refuse connections?", **options)
        names = [hit["document_id"] for hit in found["hits"]]
        assert len(names) == len(set(names))
        assert found["hits"][0]["document_name"] == "inc-112-userdb-connections.md"
        assert found["hits"][0]["around"]["content"]

    @pytest.mark.parametrize("mode", ["hybrid", "convex", "rrf", "lexical", "dense"])
    async def test_a_question_without_an_answer_has_no_good_match(self, tenant, mode):
        found = await search(tenant.http, "boiling point of tungsten hexafluoride", mode=mode)
        assert not found["good_match"]
        assert 0 <= found["match"] <= 1


class TestContext:
    async def test_the_budget_is_never_exceeded_and_evidence_is_cited(self, tenant):
        names = (await tenant.http.get("/v1/context/tokenizers")).json()
        assert names["default"] in names["names"]
        for budget in (64, 300, 1000):
            body = {"queries": ["Why could nobody sign in?", "Who ended the incident?"], "max_tokens": budget}
            packet = (await tenant.http.post("/v1/context", json=body)).json()
            assert packet["tokens"] <= budget == packet["max_tokens"]
            for one in packet["evidence"]:
                assert f'number="{one["number"]}"' in packet["text"]
                assert one["content"] in packet["text"]
        assert "inc-112-userdb-connections.md" in {one["document_name"] for one in packet["evidence"]}
        assert len({one["chunk_id"] for one in packet["evidence"]}) == len(packet["evidence"])


async def test_workspace_settings_apply_to_a_search_without_a_mode(make_tenant):
    async with make_tenant("settings") as tenant:
        before = (await tenant.http.get("/v1/search-settings")).json()
        headers = {"If-Match": f'"{before["version"]}"'}
        changed = await tenant.http.patch("/v1/search-settings", json={"mode": "rrf", "rrf_k": 10}, headers=headers)
        assert changed.status_code == 200, changed.text
        assert (await search(tenant.http, "anything"))["mode"] == "rrf"
        assert (await search(tenant.http, "anything", mode="dense"))["mode"] == "dense"
        reset = await tenant.http.patch("/v1/search-settings", json={"reset": ["mode", "rrf_k"]})
        assert reset.json()["mode"] == before["mode"]
