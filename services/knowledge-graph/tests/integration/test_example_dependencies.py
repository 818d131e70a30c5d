"""The example documents: who depends on whom, as the tool answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[4] / "infra/examples"
PROJECTS = {"ProjectAlpha", "ProjectBeta", "ProjectGamma"}


@pytest.fixture
async def dependencies(client, auth_headers, documents):
    """Returns dependencies("UserDB"): what it depends on and what depends on it, each with the number of steps."""
    for path in sorted(EXAMPLES.rglob("*.md")):
        sections = re.split(r"(?m)^(?=#+ )", path.read_text(encoding="utf-8"))
        await documents.graph([section for section in sections if section.strip()], name=path.name)

    async def ask(entity: str) -> tuple[dict[str, int], dict[str, int]]:
        answer = await client.post(
            "/v1/graph/tools/analyze_dependencies", json={"entity": entity}, headers=auth_headers()
        )
        found = answer.json()["result"]
        on, by = ({one["name"]: one["depth"] for one in found[side]} for side in ("depends_on", "depended_by"))
        return on, by

    return ask


async def test_the_graph_contains_what_the_service_table_states(dependencies):
    on, by = await dependencies("UserDB")
    assert by == {
        "AuthService": 1,
        "BillingRouter": 2,
        "NotificationService": 2,
        **dict.fromkeys(PROJECTS, 2),
    }
    assert on == {}
    on, by = await dependencies("AuthService")
    assert on == {"UserDB": 1}
    assert by == {"BillingRouter": 1, "NotificationService": 1, **dict.fromkeys(PROJECTS, 1)}
    assert "Meridian Travel" not in by


@pytest.mark.usefixtures("dependencies")
async def test_questions_are_answered_with_their_sources(client, auth_headers):
    async def answer(question: str):
        body = {"question": question}
        answered = await client.post("/v1/graph/tools/answer_question", json=body, headers=auth_headers())
        return answered.json()

    found = (await answer("How many services depend on AuthService?"))["result"]
    assert {one["name"] for one in found["rows"]} == {"BillingRouter", "NotificationService"}
    assert {one["name"] for one in found["others"]} == PROJECTS
    assert found["text"].startswith("2 services depend directly on AuthService: BillingRouter [1], ")
    for one in (*found["rows"], *found["others"]):
        source = found["sources"][one["source"] - 1]
        quote = source["content"][source["start"] : source["end"]]
        assert source["document_name"].endswith(".md")
        assert "AuthService" in quote or one["name"] in quote, (one, quote)
    found = (await answer("Was fällt aus, wenn die UserDB ausfällt?"))["result"]
    assert {one["name"]: one["via"] for one in found["rows"]} == {
        "AuthService": None,
        **dict.fromkeys(["BillingRouter", "NotificationService", *PROJECTS], "AuthService"),
    }
    assert found["text"].startswith("Fällt UserDB aus, sind 6 Stellen betroffen. Direkt: AuthService [")
    found = (await answer("How does ProjectAlpha depend on the UserDB?"))["result"]
    assert found["paths"] == [["ProjectAlpha", "AuthService", "UserDB"]]
    for question in ("How long are tokens valid?", "Who owns the Crown Jewels?"):
        answered = await answer(question)
        assert (answered["success"], answered["result"]) == (False, None)


async def test_a_project_or_service_is_one_entity_under_all_its_names(documents, client, auth_headers):
    await documents.graph(["Kestrel uses AuthService."], name="a.md")
    await documents.graph(["Project Kestrel depends on UserDB."], name="b.md")
    await documents.graph(["The `berth-allocation` service depends on BerthDB."], name="c.md")
    await documents.graph(["The Berth Allocation Service (BAS) plans berths. BAS depends on TideDB."], name="d.md")

    async def needs(entity: str) -> set[str]:
        answer = await client.post(
            "/v1/graph/tools/analyze_dependencies", json={"entity": entity}, headers=auth_headers()
        )
        return {one["name"] for one in answer.json()["result"]["depends_on"]}

    for name in ("Kestrel", "Project Kestrel"):
        assert await needs(name) == {"AuthService", "UserDB"}
    for name in ("berth-allocation", "BAS", "Berth Allocation Service"):
        assert await needs(name) == {"BerthDB", "TideDB"}
