"""Questions about who decided, who is in a team, and what kind of thing something is."""

from __future__ import annotations

import pytest

PEOPLE = (
    "| Name | Role | Team |\n|---|---|---|\n| Odile Fairweather | Engineer | Heron |\n| Tobias Renner | Lead | Gull |"
)
SYSTEMS = "| Service | Team | Depends on |\n|---|---|---|\n| Foghorn | Heron | FogDB |\n| Beacon | Gull | Foghorn |"
MINUTES = "Ruth Calder leads Heron. Ivo Brandt works in Heron; until 2023 he was in Gull."
DECISION = "Status: accepted\nDecided by: Odile Fairweather, Tobias Renner (Gull)\n\nHolds are kept by Foghorn."


@pytest.fixture
async def ask(client, auth_headers, documents):
    await documents.graph([PEOPLE], name="people.md")
    await documents.graph([SYSTEMS], name="systems.md")
    await documents.graph([MINUTES], name="minutes.md")
    await documents.graph([DECISION], name="adr-011.md", headings=["ADR-011: Holds"])

    async def send(question: str):
        body = {"question": question}
        answer = await client.post("/v1/graph/tools/answer_question", json=body, headers=auth_headers())
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    return send


async def test_people_in_a_table_are_in_their_team_and_not_owned_by_it(ask):
    owned = await ask("What does Heron own?")
    assert owned["text"] == "Heron owns 1 thing: Foghorn [1]."
    members = await ask("Who is in the Heron team?")
    assert {one["name"] for one in members["rows"]} == {"Odile Fairweather", "Ivo Brandt", "Ruth Calder"}
    assert any("Odile Fairweather | Engineer | Heron" in one["content"] for one in members["sources"])


@pytest.mark.parametrize("question", ["Who decided ADR-011?", "Wer hat ADR-011 entschieden?"])
async def test_who_decided_is_answered_from_the_header_of_the_decision(ask, question):
    answer = await ask(question)
    assert {one["name"] for one in answer["rows"]} == {"Odile Fairweather", "Tobias Renner"}
    assert " 2 " not in answer["text"], "people are named, not counted"
    assert all(one["source"] for one in answer["rows"])


async def test_the_type_of_a_thing_is_answered_with_what_is_stated_of_it(ask):
    answer = await ask("What type of thing is Foghorn?")
    assert answer["text"].startswith("Type of Foghorn: service. Depends on: FogDB [1]. Needed by: Beacon [2].")
    assert answer["text"].endswith("Owned by: Heron [1].")


async def test_an_owner_is_answered_with_the_people_in_the_team(ask):
    answer = await ask("Which team owns Foghorn and who is in it?")
    assert answer["text"].startswith("Foghorn is owned by Heron [1]. In Heron: ")
    assert {one["name"] for one in answer["rows"]} == {"Heron", "Odile Fairweather", "Ivo Brandt", "Ruth Calder"}
    assert [one["number"] for one in answer["sources"]] == [*range(1, len(answer["sources"]) + 1)]
