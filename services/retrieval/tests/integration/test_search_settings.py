"""How a workspace is searched if a request does not say."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import DocumentIndexed, WorkspaceDeleted, WorkspacePurged
from contracts.gateway import Role

SETTINGS = "/v1/search-settings"
WEIGHTS = {
    "cosine": 1.0,
    "bm25_share": 0.3,
    "soft_match": 0.4,
    "title_named": 0.15,
    "all_terms": 0.2,
    "phrases": 0.3,
    "named": 0.8,
    "residual": 0.2,
    "link": 0.5,
    "bridge": 0.9,
    "graph": 0.5,
}
TEXTS = [
    "The car was sold at the auction in Lyon.",
    "An automobile changed hands at the sale.",
    "Photosynthesis turns light into sugar.",
    "AuthService issues the token that BillingRouter checks.",
]


@pytest.fixture
def tuned(client, auth_headers):
    """tuned(change, role=..., workspace_id=..., **headers): the response of PATCH, or of GET without a change."""

    async def ask(change=None, *, role=Role.owner, workspace_id=None, **headers):
        sent = auth_headers(role=role, workspace_id=workspace_id) | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await client.request("GET" if change is None else "PATCH", SETTINGS, json=change, headers=sent)

    return ask


@pytest.fixture
async def indexed(ingestion, converted):
    await ingestion.convert(await ingestion.embedded(converted(TEXTS)))
    await ingestion.wait_for(DocumentIndexed, 1)


@pytest.mark.usefixtures("indexed")
async def test_settings_are_read_changed_and_reset(tuned):
    read = await tuned(role=Role.viewer)
    default = read.json()
    assert (default["mode"], default["k1"], default["b"], default["rrf_k"], default["version"]) == (
        "hybrid",
        1.2,
        0.75,
        60,
        0,
    )
    assert default["legs"] == {"lexical": 1.0, "dense": 1.0, "graph": 0.5}
    assert default["weights"] == WEIGHTS
    assert default["embedding_space"]
    assert read.headers["etag"] == '"0"'

    change = {"mode": "rrf", "k1": 0.9, "weights": {"soft_match": 0.7}, "legs": {"lexical": 2, "dense": 1, "graph": 0}}
    changed = await tuned(change, If_Match='"0"')
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert (found["mode"], found["k1"], found["b"], found["version"]) == ("rrf", 0.9, 0.75, 1)
    assert found["weights"] == WEIGHTS | {"soft_match": 0.7}
    assert (await tuned({"rrf_k": 5}, If_Match='"0"')).status_code == 412
    assert (await tuned()).json() == found

    again = (
        await tuned({"b": 0.5, "reset": ["mode", "k1", "weights", "legs"]}, If_Match=changed.headers["etag"])
    ).json()
    assert again == default | {"b": 0.5, "version": 2}
    assert (await tuned(workspace_id=uuid4())).json()["version"] == 0


async def test_only_owners_change_settings_and_only_to_what_can_be(tuned):
    assert (await tuned({"k1": 1.0}, role=Role.editor)).status_code == 403
    for wrong in (
        {"k1": -1},
        {"b": 2},
        {"mode": "best"},
        {"weights": {"luck": 1}},
        {"weights": {"cosine": 11}},
        {"legs": {"luck": 1}},
        {"legs": {"named": 1}},
        {"rrf_k": 0},
        {"diversity": 2},
        {"reset": ["all"]},
    ):
        assert (await tuned(wrong)).status_code == 422


async def test_a_weight_without_a_feature_or_leg_is_rejected_with_the_names_that_exist(tuned):
    refused = (await tuned({"weights": {"luck": 1}})).json()
    assert (refused["type"], refused["detail"]) == ("unknown-weight", "there is no luck")
    assert sorted(refused["features"]) == sorted(WEIGHTS)
    assert refused["legs"] == ["lexical", "dense", "graph"]


@pytest.mark.usefixtures("indexed")
async def test_weights_that_are_not_given_stay_as_they_are(tuned):
    await tuned({"legs": {"graph": 0.1}, "weights": {"link": 0.1}})
    changed = (await tuned({"legs": {"dense": 2}, "weights": {"cosine": 2}})).json()
    assert changed["legs"] == {"lexical": 1, "dense": 2, "graph": 0.1}
    assert changed["weights"] == WEIGHTS | {"link": 0.1, "cosine": 2}


@pytest.mark.usefixtures("indexed")
async def test_the_next_search_follows_the_settings(tuned, search):
    await search("sold car")
    await tuned({"mode": "lexical"})
    answer = await search("sold car", explain=True)
    assert answer["mode"] == "lexical"
    assert [leg["leg"] for leg in answer["legs"]] == ["lexical"]
    before = answer["hits"][0]["score"]
    await tuned({"k1": 0.0})
    assert (await search("sold car"))["hits"][0]["score"] > before

    await tuned({"reset": ["mode", "k1"], "weights": dict.fromkeys(WEIGHTS, 0.0) | {"soft_match": 1}})
    [first, second, *_] = (await search("automobile", explain=True))["hits"]
    assert first["score"] == pytest.approx(first["explanation"]["features"]["soft_match"])
    assert {first["content"], second["content"]} == set(TEXTS[:2])


@pytest.mark.usefixtures("indexed")
async def test_a_request_overrules_the_mode_alone(tuned, search, client, auth_headers):
    await tuned({"mode": "lexical"})
    for mode in ("hybrid", "convex", "rrf", "dense"):
        answer = await search("who sold the car", mode=mode, explain=True)
        assert answer["mode"] == mode
        assert answer["hits"][0]["content"] == TEXTS[0]
    await tuned({"legs": {"lexical": 0, "dense": 1, "graph": 0}})
    convex = await search("car", mode="convex")
    assert convex["hits"][0]["score"] == pytest.approx(1.0)
    await tuned({"rrf_k": 1, "legs": {"lexical": 1, "dense": 1, "graph": 0}})
    rrf = await search("who sold the car", mode="rrf")
    assert rrf["hits"][0]["score"] == pytest.approx(1.0)
    await tuned({"weights": {"cosine": 0, "soft_match": 0}})
    alone = await search("car", mode="hybrid", explain=True)
    assert alone["hits"][0]["explanation"]["weights"]["cosine"] == 0
    for tuning in ({"fusion": {"rrf_k": 1}}, {"diversity": 0.5}):
        refused = await client.post("/v1/search", json={"query": "car", **tuning}, headers=auth_headers())
        assert refused.status_code == 422


@pytest.mark.usefixtures("indexed")
async def test_another_wording_lifts_what_answers_it_and_buries_nothing(search):
    for mode in ("hybrid", "convex", "rrf", "lexical", "dense"):
        answer = await search("AuthService token", mode=mode, queries=["light and sugar"], explain=True)
        found = [hit["content"] for hit in answer["hits"]]
        assert found[:2] == [TEXTS[3], TEXTS[2]], mode
        names = {leg["leg"] for leg in answer["legs"]}
        assert names == set(answer["hits"][0]["explanation"]["legs"])
        assert {name.removesuffix("#2") for name in names} < names


@pytest.mark.usefixtures("indexed")
async def test_match_tells_answers_from_what_has_none(search):
    for mode in ("hybrid", "convex", "rrf", "lexical", "dense"):
        good = await search("Who issues the token that BillingRouter checks?", mode=mode)
        bad = await search("quarterly revenue of the Antarctic penguin office", mode=mode)
        assert good["good_match"], mode
        assert not bad["good_match"], mode
        assert 0 <= bad["match"] < 0.5 <= good["match"] <= 1


@pytest.mark.usefixtures("indexed")
async def test_chunks_indexed_without_wordpieces_are_matched_by_their_text(search, database, workspace_id):
    before = await search("automobile", explain=True)
    async with database.workspace(workspace_id) as connection:
        await connection.execute("UPDATE chunk SET pieces = NULL")
    after = await search("automobile", explain=True)
    assert [hit["explanation"]["features"] for hit in after["hits"]] == [
        hit["explanation"]["features"] for hit in before["hits"]
    ]


@pytest.mark.usefixtures("indexed")
async def test_settings_go_with_their_workspace(tuned, ingestion):
    await tuned({"k1": 0.5, "weights": {"cosine": 2}})
    await ingestion.send(WorkspaceDeleted())
    (purged,) = await ingestion.wait_for(WorkspacePurged, 1)
    for table in ("search_settings", "space_weights"):
        assert (purged.removed[table], purged.remaining[table]) == (1, 0)
