"""Words of every document name nothing; names that contain "and" are one name."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument


@pytest.fixture(scope="module")
def read():
    return load_reader()


def extraction_of(text: str, *headings: str, read=None, title=None) -> Extraction:
    return extract(SourceDocument("17.txt", title, False, (SourceChunk("c0", text, headings),)), read)


def surfaces(extraction: Extraction) -> set[str]:
    return {one.surface for one in extraction.mentions} - {"17.txt"}


TABLE = "| Date | Winner | Prize Money |\n|---|:---:|---|\n| 3 May | Ann Berg | 30 |\n| 4 May | Tom Hill | 40 |\n"


def test_a_table_header_contains_no_names(read):
    found = extraction_of(TABLE, read=read)
    assert surfaces(found) == {"Ann Berg", "Tom Hill"}
    assert "Prize Money" in {one.surface for one in found.candidates}


@pytest.mark.parametrize(
    "heading",
    [
        "Introduction",
        "References",
        "See also",
        "Early life",
        "Key Findings",
        "Chapter 3",
        "Appendix B",
        "Table 2",
        "Dates",
    ],
)
def test_generic_headings_are_not_entities(heading):
    assert surfaces(extraction_of("nothing here", heading)) == set()


def test_headings_that_name_something_are_entities():
    assert surfaces(extraction_of("nothing here", "Early life", "Battle of Marathon")) == {"Battle of Marathon"}
    assert surfaces(extraction_of("nothing here", title="Moon")) == {"Moon"}


def test_headings_inside_a_text_are_recognised(read):
    text = "We met Ann Berg.\n\nFurther Reading\n\nSee the References and the External Links. The Date is open."
    assert surfaces(extraction_of(text, read=read)) == {"Ann Berg"}


@pytest.mark.parametrize(
    "name",
    ["Department of Health and Human Services", "River and Rowing Museum", "Handel and Haydn Society"],
)
def test_a_name_containing_and_is_one_name(name, read):
    assert name in surfaces(extraction_of(f"In 1998 she wrote to the {name} about it.", read=read))


@pytest.mark.parametrize(
    "text",
    [
        "He studied at the University of Oslo and Bergen was his home.",
        "He visited the Louvre and the British Museum.",
        "The Kingdom of France and England made peace.",
        "The Ministry of Defence and the Department of Health agreed.",
    ],
)
def test_two_names_joined_by_and_stay_two(text, read):
    assert not any(" and " in one for one in surfaces(extraction_of(text, read=read)))


def test_the_adjective_of_a_region_is_not_a_name(read):
    found = extraction_of("Bavaria has a king. The Bavarian king met Ann Berg.", read=read)
    assert {one.surface: one.name_key for one in found.mentions}["Bavarian"] == "bavaria"
