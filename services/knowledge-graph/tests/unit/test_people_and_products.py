"""Tables of people, products that look like people or places, and what "the service" means; with the English model."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument

SYSTEMS = "The OrderService and the PayService matter. "


@pytest.fixture(scope="module")
def read():
    return load_reader()


def extracted(read, text: str, *headings: str) -> Extraction:
    return extract(SourceDocument("notes.md", None, False, (SourceChunk("c0", text, headings),), "en"), read)


def types(found: Extraction) -> dict[str, str]:
    return {one.surface: one.entity_type for one in found.mentions}


def facts(found: Extraction) -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.method != "cooccurrence"
    }


def table(*rows: str) -> str:
    head, *others = rows
    return "\n".join([f"| {head} |", f"|{'---|' * (head.count('|') + 1)}", *(f"| {one} |" for one in others)])


@pytest.mark.parametrize("header", ["Name | E-Mail | Team", "Contact | Phone | Team", "Name | Rolle | Gruppe | Team"])
def test_people_are_in_the_team_of_their_row_and_not_owned_by_it(read, header):
    row = " | ".join(["Marguerite Osei", *["-"] * (header.count("|") - 1), "Finance"])
    found = extracted(read, table(header, row))
    assert facts(found) == {("Marguerite Osei", "PART_OF", "Finance")}
    assert types(found)["Marguerite Osei"] == "PERSON"


def test_systems_in_a_table_with_a_role_are_not_people(read):
    found = extracted(read, table("Name | Role | Team", "OrderService | primary | Finance"))
    assert facts(found) == set()
    assert types(found)["OrderService"] == "SERVICE"


def test_systems_with_a_contact_keep_their_owner(read):
    found = extracted(read, table("Service | Team | Contact", "Foyer | Digital | Rasheed Lindqvist"))
    assert ("Digital", "OWNS", "Foyer") in facts(found)


@pytest.mark.parametrize(
    ("sentence", "name", "entity_type"),
    [
        ("Holds are kept by Latchkey, a small service built on Redis.", "Latchkey", "SERVICE"),
        ("The ushers use Scanner, an app on their phones.", "Scanner", "SERVICE"),
        ("The payments-bridge connects us with Stonepay.", "Stonepay", "SERVICE"),
        ("AdBook exports its bookings to Ledgerline every evening.", "Ledgerline", "SERVICE"),
        ("The engine is written in Rust by us.", "Rust", "LIBRARY"),
        ("The Advertising department operates it.", "Advertising", "TEAM"),
        ("It is an API that Petrodata sells.", "Petrodata", "ORG"),
        ("Parcels go to depots in Kassel, Brno and Lille.", "Brno", "PLACE"),
    ],
)
def test_the_words_beside_a_name_say_what_it_is(read, sentence, name, entity_type):
    assert types(extracted(read, SYSTEMS + sentence))[name] == entity_type


@pytest.mark.parametrize("said", ["In Dublin, a service starts on time.", "With Anna Berg, an app is in safe hands."])
def test_a_thing_after_an_opening_does_not_define_it(read, said):
    assert not {"SERVICE"} & {kind for name, kind in types(extracted(read, said)).items() if name != "notes.md"}


def test_owners_whose_last_word_is_that_of_a_thing_are_teams(read):
    found = types(extracted(read, table("Service | Owned by", "PayService | Integration Hub", "Foyer | Clinical IT")))
    assert (found["Integration Hub"], found["Clinical IT"]) == ("TEAM", "TEAM")


def test_the_service_is_not_the_library_that_a_heading_names(read):
    text = f"{SYSTEMS}\n\n- PayQuay stays as it is: the service does not depend on Slipway.\n- Slipway uses RabbitMQ."
    for heading in ("ADR-019: Slipway moves to NATS JetStream", "Moving to NATS JetStream"):
        found = facts(extracted(read, text, heading, "Consequences"))
        assert not [one for one in found if "JetStream" in one[0]], found


def test_a_field_under_a_numbered_title_is_about_the_document(read):
    found = extracted(read, "Status: accepted\nDecided by: Samir Haddad", "ADR-019: Slipway moves to NATS JetStream")
    assert ("Samir Haddad", "DECIDED", "ADR-019") in facts(found)
