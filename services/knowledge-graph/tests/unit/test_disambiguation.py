"""Decides which of several full names a short name stands for."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument

ENGINEER = "Maria Keller is an engineer who designs bridges and tunnels. Maria Keller built the longest railway bridge."
SINGER = "Anna Keller is an opera singer and composer. Anna Keller sang Mozart and Verdi at the opera house of Vienna."


@pytest.fixture(scope="module")
def read():
    return load_reader()


def extraction_of(*texts: str, read=None, title=None) -> Extraction:
    chunks = tuple(SourceChunk(f"c{number}", text) for number, text in enumerate(texts))
    return extract(SourceDocument("17.txt", title, False, chunks), read)


def meant(extraction: Extraction, surface: str = "Keller") -> dict[str, str]:
    """Returns the meaning of the surface, by chunk."""
    return {one.chunk_id: one.name_key for one in extraction.mentions if one.surface == surface}


def test_an_ambiguous_name_stays_unresolved(read):
    found = extraction_of(ENGINEER, SINGER, "It rained when the mayor Keller came.", read=read)
    assert meant(found) == {"c2": "keller"}


def test_a_partial_name_means_the_only_matching_full_name_in_the_chunk(read):
    found = extraction_of(ENGINEER, SINGER + " Later Keller moved to Graz.", read=read)
    assert meant(found) == {"c1": "annakeller"}


def test_a_surname_at_the_start_of_a_sentence_means_the_person_the_text_is_about(read):
    text = "Maria Keller (born 1950) was an engineer and the sister of Anna Keller. Keller studied in Oslo."
    assert meant(extraction_of(text, read=read)) == {"c0": "mariakeller"}
    other = "Maria Keller (born 1950) was a sister of Anna Keller. The name was short for Keller."
    assert meant(extraction_of(other, read=read)) == {"c0": "keller"}


def test_british_and_american_names_are_aliases_in_the_whole_workspace():
    found = extraction_of("We met the Centre for Disease Control in Oslo.")
    assert [(one.alias, one.target, one.method) for one in found.aliases] == [
        ("Centre for Disease Control", "Center for Disease Control", "spelling")
    ]
    assert extraction_of("We met the Labour Party and the Center for Disease Control.").aliases == []
