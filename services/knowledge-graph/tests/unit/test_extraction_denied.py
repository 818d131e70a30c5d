"""Denied and doubted sentences state nothing, but later pronouns can refer to their subjects."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import SourceChunk, SourceDocument


@pytest.fixture(scope="module")
def read():
    return load_reader()


def by_clauses(read, *texts: str) -> set[tuple[str, str, str]]:
    chunks = tuple(SourceChunk(f"c{number}", text) for number, text in enumerate(texts))
    found = extract(SourceDocument("notes.md", None, False, chunks, "en"), read)
    surface = {one.entity_id: one.surface for one in reversed(found.mentions)}
    return {
        (surface[one.source_id], one.relation_type, surface[one.target_id])
        for one in found.relations
        if one.method == "dependency" and one.status == "current"
    }


@pytest.mark.parametrize(
    "nothing_stated",
    [
        "ProjectBeta does not keep credentials of its own.",
        "ProjectBeta is not affected.",
        "ProjectBeta may not keep its name.",
        "ProjectBeta might be moved.",
    ],
)
def test_a_pronoun_means_the_subject_of_a_denied_or_doubtful_sentence(read, nothing_stated):
    before = "The agency Meridian Travel published the key of LedgerDB."
    relations = by_clauses(read, before, f"{nothing_stated} It depends on AuthService.")
    assert ("ProjectBeta", "DEPENDS_ON", "AuthService") in relations
    assert not [one for one in relations if one[0] == "Meridian Travel" and one[2] == "AuthService"]


def test_a_denied_relation_is_not_stated(read):
    assert by_clauses(read, "ProjectBeta does not call AuthService. It might call LedgerDB.") == set()
    assert by_clauses(read, "ProjectBeta reads neither UserDB nor LedgerDB. It reads no LogStore.") == set()
