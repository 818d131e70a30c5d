"""Types that are well known, or follow from words and statements about a name; words that are no names."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import is_installed, load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.source_document import is_source_code

CALLS = "| caller | calls |\n|---|---|\n| Order Desk | Price Book |\n"


@pytest.fixture(scope="module")
def read():
    if not is_installed():
        pytest.skip("the English model is not installed")
    return load_reader()


def extracted(
    text: str, read=None, *, name: str = "notes.md", title: str | None = None, language: str = "en"
) -> Extraction:
    chunk = SourceChunk("c0", text, (title,) if title else ())
    return extract(SourceDocument(name, title, is_source_code(name), (chunk,), language), read)


def types(found: Extraction) -> dict[str, str]:
    return {one.surface: one.entity_type for one in found.mentions}


def stated(found: Extraction) -> set[tuple[str, str, str]]:
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.relation_type != "CO_OCCURS"
    }


def test_well_known_software_is_a_library_only_beside_services(read):
    assert types(extracted(f"{CALLS}\nOrder Desk runs on Kafka.\n", read))["Kafka"] == "LIBRARY"
    of_books = types(extracted("Franz Kafka wrote The Trial. Kafka lived in Prague.", read))
    assert "LIBRARY" not in of_books.values()


def test_words_beside_a_name_determine_its_type(read):
    found = types(extracted("Old files go to Stockpile, the archive bucket.", read))
    assert {"Stockpile": "STORE"}.items() <= found.items()
    sent = types(extracted("From: Aoife Lennon <aoife@sea.example>\nSubject: x\n", read, name="mail.txt"))
    assert sent["Aoife Lennon"] == "PERSON"


def test_a_place_is_part_of_the_town_named_after_it(read):
    found = extracted("The office is at Tanner Street in Wick.", read)
    assert types(found)["Tanner Street"] in {"FAC", "GPE", "LOC"}
    assert ("Tanner Street", "PART_OF", "Wick") in stated(found)


def test_a_callee_of_a_service_is_a_service_and_its_storage_is_a_store(read):
    found = types(extracted(f"{CALLS}\nPrice Book calls TideMeter. Order Desk stores receipts in TideBook.\n", read))
    assert {"TideMeter": "SERVICE", "TideBook": "STORE"}.items() <= found.items()


def test_a_code_file_is_part_of_the_thing_its_first_comment_names():
    found = extracted(
        '"""Plans berths: the core of the Berth Service."""\n\nimport asyncpg\n', name="port/berth_planner.py"
    )
    assert ("berth_planner.py", "PART_OF", "Berth Service") in stated(found)
    assert types(found)["berth_planner.py"] == "LIBRARY"
    late = extracted('import asyncpg\n\nX = """the core of the Berth Service"""\n', name="a.py")
    assert not any(kind == "PART_OF" for _, kind, _ in stated(late))


def test_an_option_in_a_decision_is_named_without_its_verb(read):
    text = (
        f'{CALLS}\n* Buy CoinKeep\n* Build Fare Ledger\n\nChosen: "Build Fare Ledger". Order Desk calls Fare Ledger.\n'
    )
    found = extracted(text, read)
    assert "Build Fare Ledger" not in types(found)
    assert ("Order Desk", "CALLS", "Fare Ledger") in stated(found)


def test_question_titles_and_file_names_are_not_names(read):
    asked = extracted(f"{CALLS}\nOrder Desk reads from Payday.\n", read, title="Who still needs Payday?")
    assert ("Order Desk", "READS", "Payday") in stated(asked)
    filed = extracted(f"{CALLS}\nOrder Desk calls Ledger.\n", read, name="0008-fee-ledger.md", title="ADR-0008: Fees")
    assert ("Order Desk", "CALLS", "Ledger") in stated(filed)


def test_statements_after_a_bold_name_are_about_it(read):
    text = "- **Seal Service**\n- Signs certificates. Owner: Signing Crew. Depends on: KeySafe\n"
    found = stated(extracted(text, read, title="Who to call"))
    assert ("Seal Service", "DEPENDS_ON", "KeySafe") in found
    assert ("Signing Crew", "OWNS", "Seal Service") in found


def test_german_ownership_and_membership_are_extracted():
    text = (
        "Das Zugangssystem Door Control gehört dem Team Werkschutz.\n\nDer BadgeReader ist ein Teil von Door Control."
    )
    found = stated(extracted(text, language="de"))
    assert ("Werkschutz", "OWNS", "Door Control") in found
    assert ("BadgeReader", "PART_OF", "Door Control") in found


def test_last_words_appositions_and_verbs_determine_the_type_of_a_name(read):
    found = types(
        extracted(
            f"{CALLS}\nRoute Planner calls TariffHub. Belt Crew looks after it. Order Desk uses ScanKit and FareBook. "
            "We buy DoseCheck.\n\nBorder Desk is a team of two.\n",
            read,
        )
    )
    assert {
        "Route Planner": "SERVICE",
        "TariffHub": "SERVICE",
        "Belt Crew": "TEAM",
        "ScanKit": "LIBRARY",
        "FareBook": "STORE",
        "DoseCheck": "SERVICE",
        "Border Desk": "TEAM",
    }.items() <= found.items()


def test_lists_of_places_and_company_locations_are_places(read):
    found = types(extracted("The firm has two hubs, Eskdale and Marwick. Ravenpay is a company in Utrecht.\n", read))
    assert {"Eskdale": "PLACE", "Marwick": "PLACE", "Utrecht": "PLACE"}.items() <= found.items()


def test_a_sentence_does_not_continue_in_the_next_field(read):
    found = stated(
        extracted("- Owner: Depot Tools\n- Depends on: KeySafe, Order Service\n", read, title="Label Service")
    )
    assert not any(who == "Depot Tools" and kind == "DEPENDS_ON" for who, kind, _ in found)


def test_a_pronoun_means_the_noun_and_not_a_name_listed_beside_it(read):
    text = "Pay Service chooses a provider: Corvid Pay for cards. It is owned by the Heron team.\n"
    found = stated(extracted(f"{CALLS}\n{text}", read))
    assert ("Heron", "OWNS", "Corvid Pay") not in found
