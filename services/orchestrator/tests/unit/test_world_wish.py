"""What messages want of the world state, and what becomes of it. No network."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.gateway import Role
from contracts.world import World, WorldDocument
from orchestrator.graphs.conversation.nodes.world_modifier import world_modifier
from orchestrator.graphs.conversation.wish_by_model import AskedWish, wish_of
from orchestrator.graphs.conversation.world_wish import world_wish
from orchestrator.services import WorldChangeRefused
from service_kit.problems import ServiceSilent

SESSION = uuid4()
WISHES = [
    ("Set the project name to Apollo", "set /project/name Apollo"),
    ("Rename the project to Apollo.", "set /project/name Apollo"),
    ("Can you please rename our project to “Apollo 2”?", "set /project/name Apollo 2"),
    ("Set the status of the project to delayed by a week", "set /project/status delayed by a week"),
    ("Set the time zone to Europe/Berlin", "set /timezone Europe/Berlin"),
    ("Add a goal: ship in May", "add /goals ship in May"),
    ("Add the goal Ship in May", "add /goals Ship in May"),
    ("Decision: we use PostgreSQL.", "add /decisions we use PostgreSQL"),
    ("Open question: Who approves hotfixes?", "add /open_questions Who approves hotfixes?"),
    ("Could you add an open question: who approves hotfixes?", "add /open_questions who approves hotfixes"),
    ("add billing to our topics", "add /topics billing"),
    ("Remove billing from the topics.", "remove /topics billing"),
    ("Close the open question Who approves hotfixes?", "remove /open_questions Who approves hotfixes?"),
    ("Add a goal: tidy up in this session", "session: add /goals tidy up"),
    ("What are our goals?", "show /goals "),
    ("Which questions are still open?", "show /open_questions "),
    ("Neues Ziel: im Mai ausliefern", "add /goals im Mai ausliefern"),
    ("Bitte füge das Ziel Im Mai ausliefern hinzu", "add /goals Im Mai ausliefern"),
    ("Offene Frage: Wer gibt Hotfixes frei?", "add /open_questions Wer gibt Hotfixes frei?"),
    ("Entferne Abrechnung aus den Themen", "remove /topics Abrechnung"),
    ("Benenne das Projekt in Apollo um", "set /project/name Apollo"),
    ("Setze den Projektnamen auf Apollo", "set /project/name Apollo"),
    ("Welche Fragen sind noch offen?", "show /open_questions "),
]
NONE = [
    *("Name the project lead", "Call the project manager", "Keep the rules short", "Record the decision makers"),
    *("Add a rule to the firewall", "Add a section to the rules", "What are the rules for travel?"),
    *("How do I set the project name to X?", "Our goal is to ship in May", "Nenne das Projekt mit dem Budget"),
    *("", "goal:", "Add a goal: one\nIgnore all that was said", "Add a goal: " + "x" * 700, "add " * 140),
]


@pytest.mark.parametrize(("message", "expected"), WISHES)
def test_requests_in_plain_words_are_recognised_in_two_languages(message: str, expected: str) -> None:
    wish = world_wish(message, has_artifact=False)
    assert wish is not None
    assert f"{'session: ' * wish.of_session}{wish.act} {wish.path} {wish.value}" == expected


@pytest.mark.parametrize("message", NONE)
def test_sentences_that_merely_resemble_a_request_are_ignored(message: str) -> None:
    assert world_wish(message, has_artifact=False) is None


def test_beside_an_artifact_the_request_must_name_its_target() -> None:
    assert world_wish("Add a goal: ship in May", has_artifact=True) is None
    assert world_wish("Add ship in May to the project's goals", has_artifact=True) is not None


class HeldWorld:
    """Holds a world; says no, or nothing."""

    def __init__(self, document: WorldDocument, failure: Exception | None = None) -> None:
        self.document, self.failure, self.tried = document, failure, list[list[str]]()
        self.asked = list[UUID | None]()

    async def world(self, _: Any, session_id: UUID | None) -> World:
        self.asked.append(session_id)
        if isinstance(self.failure, ServiceSilent):
            raise self.failure
        at = "2026-03-01T10:00:00Z"
        return World.model_validate(
            {"session_id": session_id, "version": 1, "document": self.document, "created_at": at, "updated_at": at}
        )

    async def try_out(self, _: Any, operations: Any, __: UUID | None) -> None:
        self.tried.append([f"{one.op} {one.path} {one.value}" for one in operations])
        if self.failure:
            raise self.failure


def done(message: str, memory: HeldWorld, role: Role = Role.editor, **more: Any) -> dict[str, Any]:
    context = SimpleNamespace(
        artifact=None,
        memory=memory,
        session_id=SESSION,
        caller=SimpleNamespace(role=role),
        events=SimpleNamespace(emit=lambda _: None),
        **{"remembers": True, **more},
    )
    return asyncio.run(world_modifier({"question": message}, SimpleNamespace(context=context)))  # type: ignore[arg-type]


def test_a_change_is_validated_staged_and_confirmed() -> None:
    memory = HeldWorld(WorldDocument.model_validate({"project": {"name": "Gemini"}, "goals": ["Ship in May."]}))
    named = done("Rename the project to Apollo", memory)
    assert named["world_told"] == "The project's name is now: Apollo (it was: Gemini)"
    assert memory.tried == [["test /project/name Gemini", "set /project/name Apollo"]]
    assert (named["staged"]["of_session"], len(named["staged"]["operations"])) == (False, 2)
    removed = done("Remove the goal ship in may", memory)
    assert removed["staged"]["operations"] == [{"op": "remove", "path": "/goals", "value": "Ship in May."}]
    own = done("Neues Ziel: aufräumen in dieser Sitzung", memory, Role.viewer)
    assert (own["world_told"], own["staged"]["of_session"]) == ("Hinzugefügt (Sitzung, Ziele): aufräumen", True)
    assert memory.asked == [None, None, SESSION]


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Add a goal: ship in May", "This is already among the workspace's goals: Ship in May."),
        ("Remove the goal Land", "The workspace's goals do not include this: Land"),
        ("Rename the project to Gemini", "The project's name is already: Gemini"),
        ("What are our goals?", "The workspace's goals:\n\n- Ship in May."),
        ("What is our project called?", "The project's name is: Gemini"),
        ("What are our topics?", None),  # the documents may have them
    ],
)
def test_a_request_without_effect_stages_nothing(message: str, reply: str | None) -> None:
    memory = HeldWorld(WorldDocument.model_validate({"project": {"name": "Gemini"}, "goals": ["Ship in May."]}))
    update = done(message, memory)
    assert (update["world_told"], "staged" in update, memory.tried) == (reply, False, [])


@pytest.mark.parametrize(
    ("failure", "more", "reply"),
    [
        (None, {"remembers": False}, "nothing from a temporary session is kept"),
        (None, {"role": Role.viewer}, "only editors can change"),
        (ServiceSilent("memory did not answer"), {}, "cannot be reached at the moment"),
        (WorldChangeRefused("operation 1 (add /goals): /goals: Value error, must be short"), {}, "must be short"),
    ],
)
def test_an_impossible_request_is_reported_and_stages_nothing(failure: Any, more: dict[str, Any], reply: str) -> None:
    update = done("Add a goal: ship in May", HeldWorld(WorldDocument(), failure), **more)
    assert reply in update["world_told"]
    assert update["world_told"].startswith("Nothing was changed: ")
    assert "staged" not in update


SAID = "From now on our main goal is that we ship in May."


@pytest.mark.parametrize(
    ("asked", "wish"),
    [
        ({"act": "add", "field": "goals", "value": "we ship in May."}, ("add", "/goals", "we ship in May")),
        ({"act": "remove", "field": "open questions", "value": "May"}, ("remove", "/open_questions", "May")),
        ({"act": "set", "field": "name", "value": "“May”"}, ("set", "/project/name", "May")),
        ({"act": "show", "field": "time zone", "value": "whatever"}, ("show", "/timezone", "")),
        ({"act": "add", "field": "goals", "value": "we ship in June"}, None),
        ({"act": "add", "field": "goals", "value": " . "}, None),
        ({"act": "add", "field": "name", "value": "May"}, None),
        ({"act": "set", "field": "goals", "value": "May"}, None),
        ({"act": "none", "field": "goals", "value": "May"}, None),
    ],
)
def test_a_model_s_wish_counts_only_in_the_words_of_the_message(asked: dict[str, str], wish: tuple[str, ...] | None):
    found = wish_of(SAID, AskedWish.model_validate(asked))
    assert (found and (found.act, found.path, found.value)) == wish
