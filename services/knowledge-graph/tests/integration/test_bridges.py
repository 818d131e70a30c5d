"""Expansion by bridges through the route, over documents that the consumer graphed."""

from __future__ import annotations

from uuid import uuid4

import pytest

LOTHAIR = "Lothair II was a king of Lotharingia. His mother was Ermengarde of Tours."
ERMENGARDE = "Ermengarde of Tours was an empress. She died on 20 March 851."
FILLERS = [f"The township of Number{number} Hollow has a mill and a church." for number in range(12)]


@pytest.fixture
async def kings(client, documents):
    assert (await client.get("/readyz")).status_code == 200
    return [await documents.graph(texts) for texts in ([LOTHAIR], [ERMENGARDE], FILLERS)]


@pytest.fixture
def expand(client, auth_headers):
    async def post(status: int = 200, **body):
        answer = await client.post("/v1/graph/expand", json={"method": "bridge", **body}, headers=auth_headers())
        assert answer.status_code == status, answer.text
        return answer.json()

    return post


async def test_a_question_is_linked_and_a_bridge_is_followed(expand, kings):
    question = "When did Lothair Ii's mother die?"
    linked = await expand(query=question, max_hops=0)
    assert [one["name"] for one in linked["entities"]] == ["Lothair II"]
    (name,) = linked["names"]
    assert question[name["start"] : name["end"]] == "Lothair Ii"
    assert linked["residual"] == "When did mother die?"
    assert [(one["document_id"], one["hop"]) for one in linked["chunks"]] == [(str(kings[0]), 0)]
    assert linked["chunks"][0]["about"] > 0

    found = (await expand(query=question))["chunks"]
    bridge = next(one for one in found if one["hop"] == 1)
    assert bridge["document_id"] == str(kings[1])
    assert bridge["path"] == ["Lothair II", "Ermengarde of Tours"]
    (step,) = bridge["steps"]
    assert step["document_id"] == str(kings[0])
    assert "Ermengarde of Tours" in LOTHAIR[step["start"] : step["end"]]

    chunk = {"chunk_id": linked["chunks"][0]["chunk_id"], "document_id": str(kings[0])}
    weaker = await expand(query=question, seeds=[{**chunk, "score": 0.5}])
    half = next(one for one in weaker["chunks"] if one["hop"] == 1)
    assert half["score"] == pytest.approx(bridge["score"] / 2, abs=1e-5)


async def test_names_already_found_are_not_looked_up_again(expand, kings):
    question = "When did Lothair Ii's mother die?"
    linked = await expand(query=question, max_hops=0)
    seeds = [{"chunk_id": linked["chunks"][0]["chunk_id"], "document_id": str(kings[0])}]
    found = await expand(query=question, names=linked["names"], seeds=seeds)
    whole = await expand(query=question, seeds=seeds)
    assert found["chunks"] == [one for one in whole["chunks"] if one["hop"]] != []
    assert (found["residual"], found["entities"], found["names"]) == (
        whole["residual"],
        whole["entities"],
        whole["names"],
    )
    unknown = [{"start": 0, "end": 4, "entity_id": "unknown", "share": 1.0}]
    assert (await expand(query=question, names=unknown, seeds=seeds))["chunks"] == []


@pytest.mark.usefixtures("kings")
async def test_partial_names_and_names_in_titles_lead_to_chunks(expand, documents):
    seed = "Ketil Holm was the son of Duke Torvald Brand. Ketil Holm lived in Quarnheim."
    father = "Torvald Brand was a general. He died in 1688."
    past = "In 1712 the council of Quarnheim burnt the mill."
    begun = await documents.graph([seed], title="Ketil Holm")
    ended = await documents.graph([father], title="Torvald Brand")
    titled = await documents.graph([past], title="History of Quarnheim")
    found = {one["document_id"]: one for one in (await expand(query="Who is the father of Ketil Holm?"))["chunks"]}
    assert found[str(begun)]["hop"] == 0
    assert str(ended) in found
    assert str(titled) in found


async def test_a_misspelled_or_partial_name_is_linked_in_questions(expand, documents):
    text = "Quarnheim Old Harbour Museum was built in 1688. It shows boats."
    kept = await documents.graph([text], title="Quarnheim Old Harbour Museum")
    for written in ("Quarnheim Old Harbuor Museum", "Quarnheim Museum"):
        answer = await expand(query=f"When was the {written} built?", max_hops=0)
        assert answer["entities"][0]["name"] == "Quarnheim Old Harbour Museum", written
        assert answer["residual"] == "When was the built?"
        assert [one["document_id"] for one in answer["chunks"]] == [str(kept)]
    assert (await expand(query="the Quarnheim Old Harbuor Museum", max_hops=0))["entities"] == []


@pytest.mark.usefixtures("kings")
async def test_nothing_is_linked_in_an_empty_graph(expand):
    answer = await expand(query="what is the weather like")
    assert (answer["entities"], answer["names"], answer["chunks"]) == ([], [], [])
    seeds = [{"chunk_id": "unknown", "document_id": "00000000-0000-0000-0000-000000000001"}]
    assert all(one["hop"] == 0 for one in (await expand(query="Lothair II", seeds=seeds))["chunks"])
    for body in ({"query": "x", "method": "walk"}, {"query": "x", "seeds": [{"chunk_id": "a"}]}):
        await expand(422, **body)


@pytest.mark.usefixtures("kings")
async def test_an_entity_of_another_workspace_is_unknown(client, auth_headers):
    headers = auth_headers(workspace_id=uuid4())
    body = {"method": "bridge", "query": "When did Lothair II die?", "entities": ["Ermengarde of Tours"]}
    answer = (await client.post("/v1/graph/expand", json=body, headers=headers)).json()
    assert (answer["entities"], answer["chunks"]) == ([], [])
