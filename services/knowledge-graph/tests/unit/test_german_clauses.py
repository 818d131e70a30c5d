"""What German sentences say about how systems are built and owned, by patterns alone."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.records import SourceChunk, SourceDocument


def facts_of(text: str, *headings: str) -> set[tuple[str, str, str, str]]:
    chunk = SourceChunk("c", text, headings)
    extraction = extract(SourceDocument("betrieb.md", None, False, (chunk,), "de"), None)
    surface = {one.entity_id: one.surface for one in reversed(extraction.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id], one.status)
        for one in extraction.relations
        if one.method != "cooccurrence"
    }


@pytest.mark.parametrize(
    ("sentence", "relation_type", "status"),
    [
        ("OrderService hängt von StockDB ab.", "DEPENDS_ON", "current"),
        ("OrderService ist auf StockDB angewiesen.", "DEPENDS_ON", "current"),
        ("OrderService setzt auf StockDB auf.", "USES", "current"),
        ("OrderService setzt auf StockDB.", "USES", "current"),
        ("OrderService greift auf die StockDB zu.", "USES", "current"),
        ("OrderService liest die Preise aus der StockDB.", "READS", "current"),
        ("OrderService läuft noch auf StockDB.", "RUNS_ON", "current"),
        ("Die StockDB wird vom OrderService verwendet.", "USES", "current"),
        ("OrderService hängt nicht von StockDB ab.", "DEPENDS_ON", "negated"),
        ("OrderService setzt nicht auf StockDB auf.", "USES", "negated"),
        ("Die StockDB wird vom OrderService nicht verwendet.", "USES", "negated"),
        ("Früher nutzte OrderService die StockDB.", "USES", "past"),
        ("Bis Mai 2024 nutzte OrderService die StockDB.", "USES", "past"),
        ("OrderService hängt nicht mehr von StockDB ab.", "DEPENDS_ON", "past"),
        ("Ab Herbst 2026 wird OrderService auch StockDB verwenden.", "USES", "planned"),
        ("OrderService soll StockDB nutzen.", "USES", "planned"),
    ],
)
def test_a_sentence_states_dependencies_and_their_time(sentence, relation_type, status):
    assert ("OrderService", relation_type, "StockDB", status) in facts_of(sentence)
    assert {(one[0], one[2], one[3]) for one in facts_of(sentence)} == {("OrderService", "StockDB", status)}


@pytest.mark.parametrize(
    "sentence",
    [
        "Den OrderService nutzt der StockDB-Import nicht.",
        "Falls OrderService von StockDB abhängt, melden.",
        "OrderService nutzte StockDB.",
        "Nutzt OrderService die StockDB?",
        "Die StockDB nutzt der OrderService.",
        "OrderService könnte von StockDB abhängen.",
    ],
)
def test_questions_reports_and_open_points_are_not_current_facts(sentence):
    assert not [one for one in facts_of(sentence) if one[0] == "OrderService" and one[3] == "current"]


def test_owners_and_parts_are_extracted():
    found = facts_of(
        "Der Meldedienst gehört zum Team Heron und nutzt PayHub. StockDB wird von Team Heron betreut. Für OrderService "
        "ist das Team Falk zuständig. Das Team Falk verantwortet PayHub. Der BadgeReader ist ein Bestandteil von "
        "OrderService."
    )
    assert {
        ("Heron", "OWNS", "Meldedienst", "current"),
        ("Meldedienst", "USES", "PayHub", "current"),
        ("Falk", "OWNS", "OrderService", "current"),
        ("BadgeReader", "PART_OF", "OrderService", "current"),
    } <= found
    assert not any(kind == "OWNS" and what == "StockDB" for _, kind, what, _ in found)


def test_a_pronoun_at_the_start_of_a_section_means_its_heading():
    found = facts_of("Er liest Preise aus der StockDB. Der Dienst hängt von PayHub ab.", "OrderService")
    assert ("OrderService", "READS", "StockDB", "current") in found
    assert ("OrderService", "DEPENDS_ON", "PayHub", "current") in found
    assert facts_of("Er liest Preise aus der StockDB.") == set()


def test_stores_and_owners_named_in_a_section_belong_to_its_heading():
    text = "Der Dienst ist neu. Ihre Bestellungen liegen in der StockDB. Verantwortlich ist das Team Versand."
    found = facts_of(text, "OrderService")
    assert ("OrderService", "WRITES", "StockDB", "current") in found
    assert ("Versand", "OWNS", "OrderService", "current") in found
