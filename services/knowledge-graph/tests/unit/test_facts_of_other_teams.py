"""More ways in which teams write: runbooks, minutes, definition lists, German mails."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import is_installed, load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.relation_types import is_structural

SYSTEMS = "| Application | Talks to |\n|---|---|\n| Tour Planner | Depot Register |\n\n"


@pytest.fixture(scope="module")
def read():
    if not is_installed():
        pytest.skip("the English model is not installed")
    return load_reader()


def extracted(text: str, read=None, *, name: str = "page.md", heading: str = "", language: str = "en") -> Extraction:
    chunk = SourceChunk("c0", text, (heading,) if heading else ())
    return extract(SourceDocument(name, None, False, (chunk,), language), read)


def stated(found: Extraction, status: str = "current") -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if is_structural(one.relation_type) and one.status == status
    }


def types(found: Extraction) -> dict[str, str]:
    return {one.surface: one.entity_type for one in found.mentions}


def test_a_field_for_a_service_says_what_the_fields_below_are_about(read):
    text = "- Service: Parcel Tracker\n- Team: Visibility\n- Depends on: Scan Stream, track-db\n- Used by: Driver App\n"
    found = extracted(text, read, heading="Runbook of Parcel Tracker")
    assert stated(found) >= {
        ("Visibility", "OWNS", "Parcel Tracker"),
        ("Parcel Tracker", "DEPENDS_ON", "Scan Stream"),
        ("Driver App", "USES", "Parcel Tracker"),
    }
    assert types(found)["Parcel Tracker"] == "SERVICE"


def test_what_a_team_runs_is_a_part_of_a_system(read):
    found = extracted(f"{SYSTEMS}Keymaster is owned by the Platform squad and keeps its users in user-db.", read)
    assert ("Keymaster", "WRITES", "user-db") in stated(found)


def test_what_somebody_proposed_to_let_a_system_do_is_no_fact(read):
    found = extracted(f"{SYSTEMS}- Let Tour Planner call Loginradius: no contract.", read)
    assert not any("Loginradius" in one for status in ("current", "planned") for one in stated(found, status))


def test_it_means_what_is_owned_and_not_its_owner(read):
    text = "The Archive Group owns Depot Register since 2026; before, it was owned by the Print Room."
    found = extracted(SYSTEMS + text, read)
    assert ("Print Room", "OWNS", "Depot Register") in stated(found, "past")
    assert not any(what == "Archive Group" for _, _, what in stated(found))


def test_what_belongs_to_a_name_ending_in_team_is_owned_by_it(read):
    found = extracted("Only Pagemaker reads it. Yes, Courier Pocket belongs to the Web Team.", read)
    assert ("Web Team", "OWNS", "Courier Pocket") in stated(found)


def test_a_definition_list_gives_types_and_owners(read):
    text = "AdBook :   The booking system for adverts.\nStylebook :   A small service. Owner: Newsroom Tools."
    found = extracted(text, read, heading="Words we use")
    assert types(found)["AdBook"] == "SERVICE"
    assert ("Newsroom Tools", "OWNS", "Stylebook") in stated(found)


@pytest.mark.parametrize(
    "comment", ["-- Tables of MorgueDB", "-- Schema of morgue-db (Morgue)", "-- Tabellen der MorgueDB"]
)
def test_the_first_comment_of_a_schema_names_what_its_tables_are_part_of(comment):
    found = extracted(f"{comment}\ncreate table issue (id int primary key);\n", name="schema.sql")
    [part] = [one for one in stated(found) if one[1] == "PART_OF"]
    assert part[0] == "issue"
    assert part[2].startswith(("MorgueDB", "morgue-db"))


def test_an_image_of_its_own_name_is_no_library():
    text = "services:\n  newsletter-mill:\n    image: hallam/newsletter-mill:3\n  cache:\n    image: valkey/valkey:8\n"
    found = extracted(text, name="compose.yaml")
    assert types(found)["newsletter-mill"] == "SERVICE"
    assert ("cache", "RUNS_ON", "valkey") in stated(found)


@pytest.mark.parametrize(("pronoun", "means"), [("Sie", True), ("Er", False)])
def test_a_german_pronoun_means_the_name_that_opens_the_sentence_before_if_its_gender_agrees(pronoun, means):
    head = "From: Ada Weidlich\nDate: 2026-06-09\nHallo Rainer,\n"
    text = f"{head}die Frachtbörse gehört ab sofort dem Team Pricing. {pronoun} nutzt den TariffService."
    found = stated(extracted(text, language="de"))
    assert ("Pricing", "OWNS", "Frachtbörse") in found
    assert (("Frachtbörse", "USES", "TariffService") in found) == means


def test_german_sentences_go_on_with_a_second_verb():
    text = "Das Tourenportal greift auf den TourService zu und speichert Notizen in der Notizdatenbank."
    found = extracted(text, language="de")
    assert stated(found) >= {
        ("Tourenportal", "USES", "TourService"),
        ("Tourenportal", "WRITES", "Notizdatenbank"),
    }
    assert types(found)["Notizdatenbank"] == "STORE"
