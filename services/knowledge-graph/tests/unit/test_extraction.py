"""Extraction from realistic text, by patterns alone unless a test says otherwise."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.cooccurrence import MOST_PAIRS
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import SourceChunk, SourceDocument

CO_OCCURS = "CO_OCCURS"


def extraction_of(*texts: str, recognise=None, name="notes.md", title=None, headings=(), is_code=False, language=None):
    chunks = tuple(SourceChunk(f"c{number}", text, headings) for number, text in enumerate(texts))
    return extract(SourceDocument(name, title, is_code, chunks, language), recognise)


def names(*texts: str, **more) -> dict[str, str]:
    return {one.surface: one.entity_type for one in extraction_of(*texts, **more).mentions if one.end}


def stated(*texts: str, **more) -> set[tuple[str, str, str]]:
    found = extraction_of(*texts, **more)
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.relation_type != CO_OCCURS and one.status == "current"
    }


@pytest.fixture(scope="module")
def recognise():
    return load_reader()


@pytest.mark.parametrize(
    "spellings",
    [
        ["AuthService", "Auth Service", "auth_service", "the auth-service", "AuthServices", "AuthService's"],
        ["UserDB", "user_db", "User DB", "UserDBs"],
        ["Müller", "Muller", "MÜLLER"],
    ],
)
def test_all_spellings_have_one_name(spellings):
    assert len({name_key(one) for one in spellings}) == 1


def test_different_names_stay_separate():
    assert name_key("Adams") != name_key("Adam")
    assert name_key("AuthService") != name_key("AuthRouter")
    assert name_key("💥 !?") == ""


def test_identifiers_are_extracted():
    text = (
        "The `rate-limiter` sits before BillingRouter and the Payment Gateway. Set max_retry_count in config/app.yaml, "
        "see service_kit.app and https://example.org/FooBar/BazQux or mail a.b@ExampleCorp.com."
    )
    assert names(text) == {
        "rate-limiter": "IDENTIFIER",
        "BillingRouter": "SERVICE",
        "Payment Gateway": "SERVICE",
        "max_retry_count": "IDENTIFIER",
        "config/app.yaml": "DOCUMENT",
        "service_kit.app": "IDENTIFIER",
    }


def test_capitalised_words_are_names_except_at_the_start_of_a_sentence():
    found = names("Yesterday we met. Nobody from Lisbon came, and the Harbour Board wrote to NATO. The API works.")
    assert found == {"Lisbon": "ENTITY", "Harbour Board": "ENTITY", "NATO": "ENTITY"}


def test_named_entities_are_extracted(recognise):
    found = names("Last week Maria Keller of Acme Corporation moved to Berlin in March 2024.", recognise=recognise)
    assert found == {"Maria Keller": "PERSON", "Acme Corporation": "ORG", "Berlin": "GPE"}


def test_other_languages_are_handled_by_patterns(recognise):
    german = "Der BillingService hängt von der Datenbank ab, weil Konten dort liegen und niemand sonst schreiben darf."
    assert names(german, recognise=recognise, language="de")["BillingService"] == "SERVICE"
    assert extraction_of(german, recognise=recognise, language="de").method == "patterns"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AuthService depends on UserDB.", {("AuthService", "DEPENDS_ON", "UserDB")}),
        ("The AuthService module also relies on\nthe UserDB.", {("AuthService", "DEPENDS_ON", "UserDB")}),
        ("UserDB is used by AuthService.", {("AuthService", "USES", "UserDB")}),
        ("LoginGateway calls AuthService", {("LoginGateway", "CALLS", "AuthService")}),
        ("TokenStore is part of AuthService", {("TokenStore", "PART_OF", "AuthService")}),
        ("AuthService consists of TokenStore", {("TokenStore", "PART_OF", "AuthService")}),
        ("UserDB is owned by Team Heron.", {("Team Heron", "OWNS", "UserDB")}),
        ("UserDB is maintained by Anna Berg.", {("Anna Berg", "MAINTAINS", "UserDB")}),
        (
            "BillingService depends on AuthService, UserDB and the Payment Gateway.",
            {("BillingService", "DEPENDS_ON", one) for one in ("AuthService", "UserDB", "Payment Gateway")},
        ),
        (
            "AuthService and BillingService use LedgerDB, and LoginGateway calls AuthService.",
            {
                ("AuthService", "USES", "LedgerDB"),
                ("BillingService", "USES", "LedgerDB"),
                ("LoginGateway", "CALLS", "AuthService"),
            },
        ),
    ],
)
def test_stated_relations_are_extracted(text, expected):
    assert stated(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "AuthService does not depend on UserDB.",
        "AuthService no longer uses UserDB.",
        "AuthService. UserDB uses little memory.",
        "AuthService may depend on UserDB.",
        "AuthService\n\ndepends on UserDB",
        "AuthService depends on AuthService.",
    ],
)
def test_sentences_without_a_relation_yield_none(text):
    assert stated(text) == set()


def test_fields_under_a_heading_are_extracted():
    text = "- Owner: Team Heron\n- depends_on: AuthService, UserDB\n"
    assert stated(text, headings=("Services", "BillingService")) == {
        ("Team Heron", "OWNS", "BillingService"),
        ("BillingService", "DEPENDS_ON", "AuthService"),
        ("BillingService", "DEPENDS_ON", "UserDB"),
    }


def test_evidence_spans_lie_in_the_text():
    text = "This is new. AuthService depends on UserDB."
    (one,) = [one for one in extraction_of(text).relations if one.relation_type != CO_OCCURS]
    assert text[one.start : one.end] == "AuthService depends on UserDB."
    assert (one.weight, one.chunk_id, one.method, one.phrase) == (2.0, "c0", "pattern", "depends on")


def test_a_crowded_chunk_has_bounded_relations():
    text = ", ".join(f"Worker{letter}Service" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ") * 3
    pairs = [one for one in extraction_of(text).relations if one.relation_type == CO_OCCURS]
    assert 0 < len(pairs) <= MOST_PAIRS


def test_titles_headings_and_file_names_determine_what_a_chunk_is_about():
    found = extraction_of(
        "Some text.", name="a/billing.md", title="Billing handbook", headings=("Intro", "2.1 Refunds")
    )
    assert {(one.surface, one.entity_type) for one in found.mentions if one.about} == {
        ("billing.md", "DOCUMENT"),
        ("billing", "DOCUMENT"),
        ("Billing handbook", "DOCUMENT"),
        ("Refunds", "CONCEPT"),
    }


def test_code_is_extracted():
    text = "import os\nfrom service_kit.app import service_app\n\nclass BillingRouter:\n    def refund_all(self): ...\n"
    assert names(text, name="billing.py", is_code=True) == {
        "service_kit.app": "LIBRARY",
        "BillingRouter": "SERVICE",
        "refund_all": "IDENTIFIER",
    }
    assert stated(text, name="billing.py", is_code=True) == {("billing.py", "DEPENDS_ON", "service_kit.app")}


def test_the_same_text_gives_the_same_graph(recognise):
    text = "Maria Keller owns BillingService, which uses UserDB in Berlin."
    assert extraction_of(text, recognise=recognise) == extraction_of(text, recognise=recognise)


@pytest.mark.parametrize(
    "text", ["", "\u202e\u0000", "A" * 20_000, "aA" * 10_000 + "_", "_.-" * 5_000, "'; DROP TABLE x; --"]
)
def test_hostile_text_is_extracted_in_bounded_time(text):
    extraction_of(text)
