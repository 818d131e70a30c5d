"""Statuses: a document says that something is so, was, is planned, or is denied; and when."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.dates import date_in_name, first_date
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from knowledge_graph.extraction.standing import standing


@pytest.fixture(scope="module")
def read():
    return load_reader()


def document(*texts: str, name: str = "notes.md", title: str | None = None, language: str = "en") -> SourceDocument:
    chunks = tuple(SourceChunk(f"c{number}", text) for number, text in enumerate(texts))
    return SourceDocument(name, title, False, chunks, language)


def facts(found, reader, **about) -> set[tuple[str, str, str]]:
    """Returns (who, status, whom) for what systems need and who owns them."""
    extraction = extract(document(found, **about), reader)
    surface = {one.entity_id: one.surface for one in reversed(extraction.mentions)}
    structural = {"USES", "CALLS", "READS", "WRITES", "RUNS_ON", "DEPENDS_ON", "OWNS"}
    return {
        (surface[one.source_id], one.status, surface[one.target_id])
        for one in extraction.relations
        if one.relation_type in structural
    }


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("OrderService uses StockDB.", "current"),
        ("OrderService does not use StockDB.", "negated"),
        ("OrderService doesn't use StockDB.", "negated"),
        ("OrderService never calls StockDB.", "negated"),
        ("OrderService will not use StockDB.", "negated"),
        ("StockDB is not used by OrderService.", "negated"),
        ("OrderService reads neither StockDB nor PriceDB.", "negated"),
        ("OrderService no longer uses StockDB.", "past"),
        ("The Till Service uses StockDB.", "current"),
        ("OrderService used StockDB until May 2024.", "past"),
        ("OrderService will use StockDB.", "planned"),
        ("From May 2027 OrderService will also depend on StockDB.", "planned"),
    ],
)
def test_the_wording_of_a_sentence_determines_the_status(read, sentence, status):
    for reader in (read, None):  # with the parser, and by patterns alone
        found = facts(sentence, reader)
        if reader is not None or found:
            assert {one for _, one, whom in found if whom == "StockDB"} == {status}, (reader, found)


@pytest.mark.parametrize(
    "sentence",
    [
        "If it were faster, OrderService would use StockDB.",
        "OrderService might use StockDB.",
        "We discussed whether OrderService uses StockDB.",
        "OrderService will no longer use StockDB.",
    ],
)
def test_a_mere_possibility_is_not_a_fact(read, sentence):
    assert facts(sentence, read) == set()


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("OrderService nutzt StockDB nicht.", "negated"),
        ("StockDB wird von OrderService nicht benutzt.", "negated"),
        ("StockDB wird von OrderService benutzt.", "current"),
        ("OrderService nutzt StockDB nicht mehr.", "past"),
        ("OrderService nutzt StockDB.", "current"),
    ],
)
def test_a_german_negation_after_the_object_is_recognised(sentence, status):
    assert facts(sentence, None, language="de") == {("OrderService", status, "StockDB")}


def test_a_statement_has_the_date_given_in_its_sentence(read):
    extraction = extract(document("OrderService used StockDB until 28 June 2024."), read)
    assert {one.dated for one in extraction.relations if one.relation_type == "USES"} == {"2024-06-28"}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("It moved on 28 June 2024, a Friday.", "2024-06-28"),
        ("on June 28th, 2024", "2024-06-28"),
        ("since 3 March 2025", "2025-03-03"),
        ("im März 2025", "2025-03"),
        ("bis Herbst 2026", "2026"),
        ("on 2024-06-28 at noon", "2024-06-28"),
        ("am 28.06.2024", "2024-06-28"),
        ("until 2023", "2023"),
        ("2,024 parcels and 1999 customers", None),
        ("31 February 2024 is a day like 45 May 2024", "2024-02-31"),
        ("version 2024.1", None),
    ],
)
def test_dates_keep_the_precision_in_which_they_are_written(text, date):
    assert first_date(text) == date


def test_a_date_is_read_from_the_file_name():
    assert date_in_name("2026-02-11-architecture") == "2026-02-11"
    assert date_in_name("minutes_20260211") == "2026-02-11"
    assert date_in_name("invoice-12345678") is None


def test_a_header_states_how_a_document_relates_to_others():
    decision = "# ADR-014: Prices\n\n- Status: accepted\n- Date: 9 May 2023\n- Supersedes: ADR-006 and ADR-9\n"
    found = standing(document(decision, name="adr-014-prices.md", title="ADR-014: Prices"))
    assert (found.written, found.known_as, found.replaces) == ("2023-05-09", ("ADR-14",), ("ADR-6", "ADR-9"))
    assert found.status == "current"
    second = standing(document("Version: 2.1\n", name="handbook.md", title="Handbook"))
    first = standing(document("Text.", name="Handbook_v1.docx"))
    assert (first.series, second.series, first.edition < second.edition) == ("handbook", "handbook", True)


@pytest.mark.parametrize(
    ("status", "stated"),
    [
        ("accepted", {"current"}),
        ("superseded by ADR-021", {"past"}),
        ("deprecated", {"past"}),
        ("proposed", {"planned"}),
        ("rejected", set()),
    ],
)
def test_the_facts_of_a_decision_have_its_status(read, status, stated):
    text = f"# ADR-020: Stock\n\nStatus: {status}\n\nOrderService uses StockDB."
    found = facts(text, read, name="adr-020.md", title="ADR-020: Stock")
    assert {one for _, one, _ in found} == stated
