"""Sentences, topics of chunks, candidates, clauses, and notes about other languages."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import Methods, extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.extraction.sentences import Sentences


def extraction_of(
    *texts: str, read=None, name="17.txt", title=None, headings=(), methods=None, language=None
) -> Extraction:
    chunks = tuple(SourceChunk(f"c{number}", text, headings) for number, text in enumerate(texts))
    return extract(SourceDocument(name, title, False, chunks, language), read, methods or Methods())


def about(extraction: Extraction) -> set[tuple[str, str]]:
    return {(one.surface, one.about) for one in extraction.mentions if one.about}


def clauses_of(text: str, read) -> set[tuple[str, str, str]]:
    found = extraction_of(text, read=read)
    name = {one.entity_id: one.name_key for one in found.mentions}
    return {
        (name[one.source_id], one.relation_type, name[one.target_id])
        for one in found.relations
        if one.method == "dependency"
    }


@pytest.fixture(scope="module")
def read():
    return load_reader()


def test_text_is_split_into_sentences():
    text = "Dr. J. Smith met Mr. Berg. It was late!\n\n- one item\n- U.S. Navy\n\n“Quoted?” Yes."
    spans = Sentences(text).spans
    assert [text[start:end] for start, end in spans] == [
        "Dr. J. Smith met Mr. Berg.",
        "It was late!",
        "- one item",
        "- U.S. Navy",
        "“Quoted?”",
        "Yes.",
    ]
    assert Sentences("").at(0) == (0, 0)


def test_a_mention_has_the_span_of_its_sentence():
    text = "It was late. AuthService met BillingRouter there. Nobody knew."
    for one in extraction_of(text).mentions:
        if one.end:
            assert text[one.sentence_start : one.sentence_end] == "AuthService met BillingRouter there."


def test_a_chunk_is_about_its_title_file_name_and_heading_path():
    found = extraction_of(
        "Some text.",
        "More text.",
        name="films/Lothair_II.md",
        title="Tropic of Cancer (film), Paris",
        headings=("Kings", "2. Early reign"),
    )
    assert {(one.surface, one.about) for one in found.mentions if one.chunk_id == "c0"} == {
        ("Tropic of Cancer (film), Paris", "title"),
        ("Tropic of Cancer, Paris", "title"),
        ("Tropic of Cancer", "title"),
        ("Lothair_II.md", "name"),
        ("Lothair II", "name"),
        ("Kings", "heading"),
        ("Early reign", "heading"),
    }
    assert {one.about for one in found.mentions if one.chunk_id == "c1"} == {"heading"}


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("F. R. Leavis", "F. R. Leavis"),
        ("D. Ross Lederman", "D. Ross Lederman"),
        ("12 Angry Men", "12 Angry Men"),
        ("2008 Monza Superbike", "2008 Monza Superbike"),
        ("3. Annual report", "Annual report"),
        ("2.1 Billing rules", "Billing rules"),
    ],
)
def test_numbers_and_initials_belong_to_the_title(title, named):
    (found,) = {one.surface for one in extraction_of("Some text.", title=title).mentions if one.about == "title"}
    assert found == named


@pytest.mark.parametrize("heading", ["A. Early reign", "2 Early reign", "2. Early reign", "1.2 Early reign"])
def test_headings_are_named_without_their_numbers(heading):
    found = extraction_of("Some text.", headings=(heading,))
    assert {one.surface for one in found.mentions if one.about == "heading"} == {"Early reign"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Backpropagation is a method for training networks.", ("Backpropagation", "definition")),
        ("**Refresh token**: renews an access token.", ("Refresh token", "definition")),
        ("- `rate_limit` – how many requests", ("rate_limit", "definition")),
        ("The Foundling Museum (London) is a museum.", ("Foundling Museum", "definition")),
        ("Yesterday it rained. BillingRouter restarted twice.", ("BillingRouter", "subject")),
    ],
)
def test_the_words_of_a_chunk_determine_what_it_is_about(text, expected):
    assert expected in about(extraction_of(text))


@pytest.mark.parametrize("text", ["This is a test.", "There are the usual ones.", "It is the best of AuthService."])
def test_an_opening_without_a_definition_defines_nothing(text):
    assert not any(kind == "definition" for _, kind in about(extraction_of(text)))


def test_candidates_are_extracted_with_their_sentences():
    text = "Lisbon was quiet. They read On the Road and the bank-loader docs."
    found = {one.surface: one for one in extraction_of(text).candidates}
    assert {"Lisbon", "On the Road", "bank-loader"} <= set(found)
    one = found["On the Road"]
    assert text[one.start : one.end] == "On the Road"
    assert one.entity_id == entity_id(name_key("On the Road"))
    assert text[one.sentence_start : one.sentence_end].startswith("They read")


def test_a_candidate_is_never_also_a_mention():
    found = extraction_of("AuthService met Anna Berg in Lisbon. Lisbon was quiet. Paris was not.")
    taken = [(one.start, one.end) for one in found.mentions if one.end]
    assert [one.surface for one in found.candidates if any(a <= one.start and one.end <= b for a, b in taken)] == []
    assert "Lisbon" not in {one.surface for one in found.candidates}


def test_a_name_defined_in_the_document_is_found_everywhere_in_it():
    found = extraction_of("We flew to Lisbon.", "Lisbon was quiet.")
    assert [(one.surface, one.chunk_id) for one in found.mentions if one.end] == [("Lisbon", "c0"), ("Lisbon", "c1")]


def test_the_candidates_of_a_chunk_are_bounded():
    assert len(extraction_of("Aa Bb Cc Dd Ee Ff. " * 200).candidates) <= 1_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Joseph Strick directed Ulysses in Paris.", ("josephstrick", "DIRECT_IN", "paris")),
        ("Tropic of Cancer was directed by Joseph Strick.", ("josephstrick", "DIRECT", "tropicofcancer")),
        ("Maria Keller was born in London.", ("mariakeller", "BORN_IN", "london")),
        ("Anna Berg is the daughter of Boris Berg.", ("annaberg", "DAUGHTER_OF", "borisberg")),
        ("Anna Berg won the Booker Prize. She moved to London.", ("annaberg", "MOVE_TO", "london")),
        ("Anna Berg moved to London and visited Paris.", ("annaberg", "VISIT", "paris")),
        ("Acme Corporation owns Penguin Books.", ("acmecorporation", "OWNS", "penguinbooks")),
    ],
)
def test_clauses_are_extracted(text, expected, read):
    assert expected in clauses_of(text, read) | {(one[0], one[1], one[2]) for one in _patterns(text, read)}


def _patterns(text: str, read) -> set[tuple[str, str, str]]:
    found = extraction_of(text, read=read)
    name = {one.entity_id: one.name_key for one in found.mentions}
    return {(name[one.source_id], one.relation_type, name[one.target_id]) for one in found.relations}


@pytest.mark.parametrize(
    "text",
    ["Anna Berg never visited Paris.", "Anna Berg may visit Paris.", "Did it rain? Anna Berg did not visit Paris."],
)
def test_denied_or_doubtful_sentences_yield_no_clause(text, read):
    assert clauses_of(text, read) == set()


def test_a_table_row_is_not_a_sentence(read):
    row = "Maria Keller | visited | Paris and London |"
    assert clauses_of(f"It rained.\n\n| {row}", read) == set()
    assert clauses_of("It rained.\n\nMaria Keller visited Paris.", read) != set()


def test_a_clause_has_its_sentence_and_words(read):
    text = "It rained. Maria Keller was born in London. It rained."
    (one,) = [one for one in extraction_of(text, read=read).relations if one.method == "dependency"]
    assert text[one.start : one.end] == "Maria Keller was born in London."
    assert (one.phrase, one.weight, 0 < one.confidence < 0.9) == ("was born in", 2.0, True)


def test_lower_case_terms_are_extracted(read):
    text = "The rate limiter counts requests. When the rate limiter is full, it waits for a new day."
    found = {one.surface: one.entity_type for one in extraction_of(text, read=read).mentions}
    assert found["rate limiter"] == "CONCEPT"
    assert "new day" not in found


def test_the_parser_can_be_turned_off():
    found = extraction_of(
        "Joseph Strick directed Ulysses.", read=load_reader(parse=False), methods=Methods(dependency=False)
    )
    assert {one.method for one in found.relations} <= {"cooccurrence"}
    assert (found.method, len(found.notes)) == ("ner+patterns", 1)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "de",
            "Der BillingService hängt von der Datenbank ab, weil die Konten dort liegen und niemand schreiben darf.",
        ),
        ("pt", "O BillingService depende do banco de dados porque as contas ficam ali e ninguém mais pode escrever."),
        ("fr", "Le BillingService dépend de la base, car les comptes sont dans cette base et personne ne peut écrire."),
        ("zh", "服务 BillingService 依赖数据库。它由另一个团队维护。"),
    ],
)
def test_other_languages_are_handled_by_patterns_and_reported(language, text, read):
    found = extraction_of(text, read=read, language=language)
    assert found.method == "patterns"
    assert found.notes == [f"the document is not English ({language}): names by patterns alone"]
    assert {one.surface: one.entity_type for one in found.mentions}["BillingService"] == "SERVICE"


def test_german_nouns_are_not_names():
    text = "Der Dienst hängt von der Datenbank ab, weil Konten dort liegen. Angela Merkel ist nicht mit den Leuten da."
    assert [one.surface for one in extraction_of(text, language="de").mentions if one.end] == ["Angela Merkel"]


@pytest.mark.parametrize(
    "text",
    [
        "((((((((" * 2_000,
        "A. " * 5_000,
        "a/" * 5_000,
        "`" * 5_000 + "x",
        "**" * 5_000,
        "Aa (" * 3_000,
        "“" * 3_000,
        "The " + "very " * 5_000 + "is a",
        "known as " * 3_000,
        "👍🏽\u202e\u0000’s Aa",
    ],
)
def test_hostile_text_is_extracted_in_bounded_time(text):
    found = extraction_of(text, title=text[:200], headings=(text[:200],))
    for one in [*found.mentions, *found.candidates]:
        if one.end:
            assert text[one.start : one.end] == one.surface
