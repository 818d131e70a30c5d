"""Types that the document itself states, and relations that it states as current; with the English model."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import is_installed, load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.relation_types import with_below

CALLS = "| caller | calls |\n|---|---|\n| Order Desk | Price Book |\n| Stock Room | Order Desk |\n"


@pytest.fixture(scope="session")
def read():
    if not is_installed():
        pytest.skip("the English model is not installed")
    return load_reader()


def extraction_of(read, *sections: tuple[str, str], name: str = "notes.md", title: str | None = None) -> Extraction:
    chunks = [
        SourceChunk(f"c{place}", text, (title or name, heading) if heading else ())
        for place, (heading, text) in enumerate(sections)
    ]
    return extract(SourceDocument(name, title, False, tuple(chunks), "en"), read)


def types(found: Extraction) -> dict[str, str]:
    return {one.surface: one.entity_type for one in found.mentions}


def stated(found: Extraction) -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if (one.method == "dependency" or one.phrase not in {"", "calls"}) and one.status == "current"
    }


def test_headers_phrases_and_identifiers_determine_types(read):
    table = (
        "| component | kind | team |\n|---|---|---|\n| night-sweep | job | Gull |\n| price-book | database | Gull |\n"
    )
    found = types(extraction_of(read, ("", f"{table}\nThe Heron team wrote ADR-031 after INC-7.\n")))
    expected = {"night-sweep": "SERVICE", "price-book": "STORE", "Gull": "TEAM", "Heron": "TEAM"}
    assert expected.items() <= found.items()
    assert {found["ADR-031"], found["INC-7"]} == {"DOCUMENT_ID"}


def test_a_title_determines_the_type_of_its_headings(read):
    found = extraction_of(read, ("Kestrel", "Kestrel sells tickets."), title="Projects, winter")
    assert types(found)["Kestrel"] == "PROJECT"


def test_a_person_and_a_team_with_the_same_name_stay_separate(read):
    found = extraction_of(read, ("", "Ronja Falk leads Bookings. The Falk team owns Order Desk."))
    ids = {one.surface: one.entity_id for one in found.mentions}
    assert ids["Falk"] != ids["Ronja Falk"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Stock Room asks Price Book for prices.", {("Stock Room", "CALLS", "Price Book")}),
        ("Stock Room fetches prices from Price Book.", {("Stock Room", "READS", "Price Book")}),
        ("Stock Room reads the replica of Price Book.", {("Stock Room", "READS", "Price Book")}),
        ("Stock Room has run on Price Book since 2019.", {("Stock Room", "RUNS_ON", "Price Book")}),
        ("Until the spring of 2024 Stock Room asked Price Book for prices.", set()),
        ("Stock Room no longer asks Price Book for prices.", set()),
        ("Stock Room had asked Price Book for prices.", set()),
        ("Stock Room will ask Price Book for prices.", set()),
        ("Stock Room does not ask Price Book for prices.", set()),
        ("We wonder whether Stock Room asks Price Book for prices.", set()),
        ("Had Stock Room asked Price Book for prices, all would have stopped.", set()),
    ],
)
def test_verbs_between_components_state_current_facts(read, text, expected):
    assert stated(extraction_of(read, ("", f"{CALLS}\n\n{text}"))) == expected


def test_reasons_for_a_decision_are_not_current_facts(read):
    sections = [("Services", CALLS), ("Context", "Stock Room has run on Price Book since 2019.")]
    assert stated(extraction_of(read, *sections)) == set()


def test_a_pronoun_means_the_heading_of_its_section(read):
    sections = [("Order Desk", f"Order Desk sells.\n\n{CALLS}"), ("Stock Room", "It asks Price Book for prices.")]
    assert stated(extraction_of(read, *sections)) == {("Stock Room", "CALLS", "Price Book")}


def test_a_call_is_a_dependency():
    assert {"CALLS", "READS", "RUNS_ON"} <= set(with_below(["DEPENDS_ON"]))
    assert with_below(["CALLS", "CALLS"]) == ["CALLS"]


def test_a_list_under_a_field_belongs_to_the_heading(read):
    items = "- Order Desk (orders)\n- the Price Book (prices)\n- Gangway: ramps\n- nothing of Stock Room\n"
    text = f"Kestrel sells tickets.\n\nDepends on:\n\n{items}"
    found = extraction_of(read, ("Calls", CALLS), ("Kestrel", text), title="Projects, winter")
    surface = {one.entity_id: one.surface for one in found.mentions}
    needs = {surface[one.target_id] for one in found.relations if surface[one.source_id] == "Kestrel" and one.phrase}
    assert needs == {"Order Desk", "Price Book", "Gangway"}


def test_a_component_named_in_its_section_is_not_a_person_and_gets_its_facts(read):
    inbox = "Order Inbox takes the orders. Orders are stored in InboxDB. The Proofing team owns it."
    planner = "Oven Planner decides. It reads orders from Order Inbox and recipes from RecipeDB."
    till = "The Till is at the counter. It depends on Price Board and on Order Inbox. It writes to InboxDB."
    found = extraction_of(read, ("Order Inbox", f"{inbox} It is old."), ("Oven Planner", planner), ("Till", till))
    assert "PERSON" not in {types(found)[name] for name in ("Order Inbox", "Oven Planner", "Till")}
    assert stated(found) >= {
        ("Order Inbox", "WRITES", "InboxDB"),
        ("Proofing", "OWNS", "Order Inbox"),
        ("Oven Planner", "READS", "Order Inbox"),
        ("Oven Planner", "READS", "RecipeDB"),
        ("Till", "DEPENDS_ON", "Price Board"),
        ("Till", "DEPENDS_ON", "Order Inbox"),
        ("Till", "WRITES", "InboxDB"),
    }
