"""Relations stated in tables, by patterns alone."""

from __future__ import annotations

from itertools import permutations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument

HEADERS = ("caller", "calls", "what for")
CALLS = [
    ("AuthService", "UserDB", "accounts, credentials"),
    ("ProjectGamma", "AuthService, `LedgerDB` and the BillingRouter", "tokens of LoginGateway"),
]
CALLED = {
    ("AuthService", "CALLS", "UserDB"),
    ("ProjectGamma", "CALLS", "AuthService"),
    ("ProjectGamma", "CALLS", "LedgerDB"),
    ("ProjectGamma", "CALLS", "BillingRouter"),
}


def table(*rows: tuple[str, ...]) -> str:
    header, *others = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([header, "|" + "---|" * len(rows[0]), *others])


def extraction_of(text: str) -> Extraction:
    return extract(SourceDocument("notes.md", None, False, (SourceChunk("c", text),)), None)


def stated(text: str) -> set[tuple[str, str, str]]:
    found = extraction_of(text)
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.method != "cooccurrence"
    }


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_the_columns_does_not_matter(order):
    rows = [tuple(row[place] for place in order) for row in [HEADERS, *CALLS]]
    assert stated(f"Who calls whom:\n\n{table(*rows)}\n\nThe end.") == CALLED


@pytest.mark.parametrize(
    ("headers", "row", "expected"),
    [
        (
            ("Service", "Depends on"),
            ("LoginGateway", "UserDB; the LedgerDB"),
            {("LoginGateway", "DEPENDS_ON", "UserDB"), ("LoginGateway", "DEPENDS_ON", "LedgerDB")},
        ),
        (("**Component**", "used_by"), ("UserDB", "LoginGateway"), {("LoginGateway", "USES", "UserDB")}),
        (("System", "Owner:"), ("UserDB", "Team Heron"), {("Team Heron", "OWNS", "UserDB")}),
        (("component", "team"), ("UserDB", "Team Heron"), {("Team Heron", "OWNS", "UserDB")}),
        (("team", "owns"), ("Team Heron", "UserDB"), {("Team Heron", "OWNS", "UserDB")}),
        (
            ("owner", "team", "owns"),
            ("Anna Berg", "Team Heron", "UserDB"),
            {("Team Heron", "OWNS", "UserDB"), ("Anna Berg", "OWNS", "Team Heron")},
        ),
        (("service", "caller"), ("UserDB", "LoginGateway"), {("LoginGateway", "CALLS", "UserDB")}),
        (("Module", "Part of"), ("TokenStore", "AuthService"), {("TokenStore", "PART_OF", "AuthService")}),
        (("", "Depends on"), ("LoginGateway", "UserDB"), {("LoginGateway", "DEPENDS_ON", "UserDB")}),
        (("Dienst", "hängt ab von"), ("LoginGateway", "UserDB"), {("LoginGateway", "DEPENDS_ON", "UserDB")}),
        (("Aufrufer", "Ruft auf"), ("LoginGateway", "UserDB"), {("LoginGateway", "CALLS", "UserDB")}),
        (("Komponente", "Teil von"), ("TokenStore", "AuthService"), {("TokenStore", "PART_OF", "AuthService")}),
    ],
)
def test_headers_determine_the_meaning_of_columns(headers, row, expected):
    assert stated(table(headers, row)) == expected


@pytest.mark.parametrize(
    "headers",
    [
        ("what", "where"),
        ("caller", "what for"),
        ("action", "owner"),
        ("no longer calls", "calls"),
        ("service", "component", "depends on"),
        ("name", "service", "owner"),
        ("", "", "depends on"),
        ("service", "does not depend on"),
    ],
)
def test_tables_with_other_headers_state_nothing(headers):
    text = table(headers, ("LoginGateway", "UserDB", "LedgerDB")[: len(headers)])
    assert stated(text) == set()
    assert any(one.method == "cooccurrence" for one in extraction_of(text).relations)


@pytest.mark.parametrize(
    "cell",
    ["UserDB (until May)", "all but UserDB", "not UserDB", "planned: UserDB", "-", "", "the pool of UserDB", "UserDB?"],
)
def test_a_cell_with_more_than_a_name_states_nothing(cell):
    assert stated(table(("service", "uses"), ("LoginGateway", cell))) == set()
    assert stated(table(("service", "used by"), (cell, "LoginGateway"))) == set()


@pytest.mark.parametrize("header", ["Depends on", "Hängt ab von"])
def test_cells_of_recognised_columns_are_names(header):
    rows = [("payments", "card-vault, Konten"), ("Zahlung", "Fare Engine"), ("gangway", "none"), ("Kasse", "offen")]
    assert stated(table(("Service", header), *rows)) == {
        ("payments", "DEPENDS_ON", "card-vault"),
        ("payments", "DEPENDS_ON", "Konten"),
        ("Zahlung", "DEPENDS_ON", "Fare Engine"),
    }
    found = {one.surface for one in extraction_of(table(("Service", "What"), *rows)).mentions if one.end}
    assert found == {"Konten", "Fare Engine"}, "the columns of no relation give no names by themselves"


def test_each_table_has_its_own_header():
    first, second = table(("caller", "calls"), CALLS[0][:2]), table(("what", "where"), CALLS[1][:2])
    assert stated(f"{first}\n\n{second}") == {("AuthService", "CALLS", "UserDB")}
    assert stated("| AuthService | UserDB |\n| LoginGateway | LedgerDB |") == set()


def test_rows_with_missing_cells_or_a_missing_last_border_are_read():
    text = "| caller | calls |\n|---|---|\n| AuthService |\n| LoginGateway | UserDB\n| a\\|b | LedgerDB |\n|"
    assert stated(text) == {("LoginGateway", "CALLS", "UserDB")}


def test_the_row_is_the_evidence():
    text = f"Who calls whom:\n\n{table(HEADERS, *CALLS)}\n\nThe end.".replace("| AuthService | U", "  |AuthService | U")
    (one,) = [one for one in extraction_of(text).relations if one.method == "pattern" and one.phrase == "calls"][:1]
    assert text[one.start : one.end] == "|AuthService | UserDB | accounts, credentials |"
    assert (one.weight, one.confidence, one.chunk_id) == (2.0, 0.8, "c")


@pytest.mark.parametrize(
    "text",
    [
        "|" * 20_000,
        "| service | calls |\n|-|-|\n| A |" + " " * 50_000 + "AuthService |",
        "| calls |\n|-|\n" + "| , " * 10_000,
        "|\n|-\n" * 5_000,
        "| a\n|" * 9_000,
    ],
)
def test_hostile_tables_are_read(text):
    assert stated(text) == set()


def test_a_store_is_the_subject_of_its_row_and_its_owner_uses_nothing():
    found = stated(
        table(("store", "kind", "owner", "used by"), ("PriceDB", "PostgreSQL", "Heron", "OrderService, PayHub"))
    )
    assert found == {
        ("Heron", "OWNS", "PriceDB"),
        ("OrderService", "USES", "PriceDB"),
        ("PayHub", "USES", "PriceDB"),
    }
    without = stated(table(("owner", "used by", "depends on"), ("Heron", "OrderService", "PayHub")))
    assert without == set()
